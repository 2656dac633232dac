package org.udckpt.process.restore.lazy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** What a process has done to its memory, or waits for (struct uffd_msg, userfaultfd(2)). Ends are exclusive. */
sealed interface UserfaultEvent {
    /** Bytes of a struct uffd_msg. */
    int BYTES = 32;

    /** A thread waits for the page with this address. */
    record Fault(long address) implements UserfaultEvent {}

    /** A child has the same pages, and the same missing ones; its context, and the shepherd's key of that. */
    record Fork(Userfault child, int key) implements UserfaultEvent {}

    record Remap(long from, long to, long length) implements UserfaultEvent {}

    /** madvise(2) is about to throw away contents. */
    record Remove(long start, long end) implements UserfaultEvent {}

    record Unmap(long start, long end) implements UserfaultEvent {}

    /** @param descriptors of the forks' children, in order */
    static List<UserfaultEvent> parse(byte[] messages, int[] descriptors) {
        ByteBuffer all = ByteBuffer.wrap(messages).order(ByteOrder.LITTLE_ENDIAN);
        List<UserfaultEvent> events = new ArrayList<>();
        int forks = 0;
        for (int at = 0; at + BYTES <= messages.length; at += BYTES) {
            int kind = all.get(at) & 0xff;
            events.add(switch (kind) {
                case 0x12 -> new Fault(all.getLong(at + 16));
                case 0x13 -> new Fork(new Userfault(descriptors[forks++]), all.getInt(at + 8));
                case 0x14 -> new Remap(all.getLong(at + 8), all.getLong(at + 16), all.getLong(at + 24));
                case 0x15 -> new Remove(all.getLong(at + 8), all.getLong(at + 16));
                case 0x16 -> new Unmap(all.getLong(at + 8), all.getLong(at + 16));
                default -> throw new IllegalStateException("userfaultfd(2) tells of event 0x"
                        + Integer.toHexString(kind) + ", for which it was not asked");
            });
        }
        return events;
    }
}
