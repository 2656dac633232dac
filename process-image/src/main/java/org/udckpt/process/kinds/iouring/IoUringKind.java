package org.udckpt.process.kinds.iouring;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/**
 * Rings of system calls (io_uring(7)) with nothing in flight. They are set up again, the kernel's counters are brought
 * to where they were by operations that do nothing, and their memory is put back.
 */
public final class IoUringKind implements DescriptorKind<IoUring> {
    private static final int PAGE = RowCheck.PAGE;
    private static final int OFFSET_BYTES = RingMemory.PARAMETERS - RingMemory.OFFSETS;

    @Override
    public Class<IoUring> record() {
        return IoUring.class;
    }

    @Override
    public String shown(IoUring ring) {
        return ring.submissions() + " submissions, " + ring.completions() + " completions, "
                + Integer.toUnsignedLong(ring.done()) + " done";
    }

    @Override
    public void check(IoUring ring, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require((ring.setup() & ~IoUring.KEPT) == 0, "setup 0x%x is none of a ring", ring.setup());
        power(row, "submissions", ring.submissions());
        power(row, "completions", ring.completions());
        row.bytes("offsets", ring.offsets(), OFFSET_BYTES, OFFSET_BYTES, 1);
        row.require(RingMemory.areOffsets(ring.offsets()), "offsets are none within a ring (length %d)",
                ring.offsets().length);
        size(row, "rings", ring.rings(),
                RingMemory.ringBytes(ring.setup(), ring.submissions(), ring.completions(), ring.offsets()));
        size(row, "entries", ring.entries(), RingMemory.entryBytes(ring.setup(), ring.submissions()));
        row.bytes("buffers", ring.buffers(), 0, IoUring.MOST_BUFFERS * IoUring.BUFFER_BYTES, IoUring.BUFFER_BYTES);
        row.bytes("notes", ring.notes(), 0, IoUring.NOTE_BYTES << 16, IoUring.NOTE_BYTES);
        for (RingNotes.Place place : RingNotes.places(ring.notes())) {
            row.require(image.process((int) place.pid()) && place.pid() == (int) place.pid() && place.address() > 0
                    && place.address() % Long.BYTES == 0, "notes name process %d, or no address in it", place.pid());
        }
        row.require(isThread(image, ring.pid(), ring.tid()), "tid %d is not a thread of its process", ring.tid());
        row.require(ring.event() == 0 || image.isOpen(ring.event()),
                "event %d is not open", ring.event());
    }

    static boolean isThread(CheckedImage image, int pid, int tid) {
        return image.image().threads().stream().anyMatch(thread -> thread.pid() == pid && thread.tid() == tid);
    }

    private static void power(RowCheck row, String column, int entries) throws BrokenTable {
        row.between(1, 2L * IoUring.MOST_ENTRIES, column, entries);
        row.require(Integer.bitCount(entries) == 1, column + " %d is not a power of two", entries);
    }

    private static void size(RowCheck row, String column, byte[] memory, long bytes) throws BrokenTable {
        int pages = (int) (bytes + PAGE - 1 & -PAGE);
        row.bytes(column, memory, pages, pages, PAGE);
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new IoUringCapture(scope);
    }

    @Override
    public KindRestore<IoUring> restore(RestoreScope scope) {
        return new IoUringRestore(scope);
    }
}
