package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.udckpt.image.write.AppendOrder;
import org.udckpt.image.write.PageSource;
import org.udckpt.image.write.SelfWritingSource;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.SelfWriteOrder;
import org.udckpt.process.model.SelfWriting;
import org.udckpt.support.report.Messages;

/** What a capture offers, as the image writer takes it. */
final class PageSources {
    /** The reason is told once: it will be the same at each checkpoint. */
    private static final AtomicBoolean TOLD = new AtomicBoolean();

    private PageSources() {}

    static PageSource of(MemorySource source) {
        return source instanceof SelfWriting self ? new Self(self) : (address, into) -> read(source, address, into);
    }

    private static long read(MemorySource source, long address, MemorySegment into) {
        source.read(address, into);
        return into.byteSize();
    }

    /** A snapshot. */
    private record Self(SelfWriting source) implements SelfWritingSource {
        @Override
        public long read(long address, MemorySegment into) {
            return PageSources.read(source, address, into);
        }

        @Override
        public boolean ready(List<Integer> files, boolean direct, boolean background, int writers) {
            String reason = source.ready(files, direct, background, writers);
            if (reason != null && !TOLD.getAndSet(true)) {
                Messages.warn("process " + source.id() + " cannot write its memory itself; the agent writes it, "
                        + "which is slower: " + reason + " (reported once)");
            }
            return reason == null;
        }

        @Override
        public void look(int writer, long[] runs, int count, BitSet zeros, long[] hashes) {
            source.look(writer, runs, count, zeros, hashes);
        }

        @Override
        public long append(int writer, long[] runs, int count, AppendOrder o) throws IOException {
            try {
                return source.append(writer, runs, count,
                        new SelfWriteOrder(o.file(), o.offset(), o.roomFrom(), o.roomTo(), o.digest(), o.key(),
                                o.seal(), o.zeros()));
            } catch (LinuxError e) {
                throw new IOException(e.getMessage(), e);
            }
        }
    }
}
