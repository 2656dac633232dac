package org.udckpt.process.kinds.aio;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.layout.Layout;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;

/**
 * Contexts of asynchronous I/O: mappings of the process. What it has submitted the preloaded library has counted
 * (interposer_aio.c); what is complete the kernel has put into the ring, whose tail counts on from 0. A child has its
 * parent's mappings without the contexts: they come back empty.
 */
final class AioCapture implements KindCapture {
    private static final String SYMBOL = "udckpt_aio_notes";
    private static final long PROGRESS_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long MOST_NS = TimeUnit.SECONDS.toNanos(5);

    private final CaptureScope scope;

    AioCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public void ask(AskedProcess caller, List<AskedProcess> processes) {
        for (AskedProcess process : processes) {
            for (AskedProcess.MappedRange ring : process.mapped(AioContext.PATH)) {
                long bytes = ring.end() - ring.start();
                if (bytes > AioContext.MOST_BYTES) {
                    throw process
                            .refuse("a context of asynchronous I/O (io_setup(2)) of %d bytes cannot be checkpointed"
                                    .formatted(bytes) + "; make a smaller one");
                }
                add(process, ring.start(), (int) bytes, ring.file());
            }
        }
    }

    private void add(AskedProcess process, long address, int bytes, String file) {
        long submitted = submitted(process, address);
        if (submitted < 0) {
            return;
        }
        byte[] ring = drained(process, address, bytes, submitted);
        long id = scope.table().newId();
        scope.mapped(file, id);
        scope.table().add(new AioContext(id, process.namespacePid(), address, ring));
    }

    /** -1: it is a parent's, of which this process has the memory only. */
    private static long submitted(AskedProcess process, long context) {
        long notes = process.libraryData(SYMBOL, Layout.AioNotes.SIZE);
        if (notes != 0) {
            ByteBuffer table = ByteBuffer.wrap(process.read(notes, Layout.AioNotes.SIZE))
                    .order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < Layout.AIO_NOTES; i++) {
                int at = Layout.AioNotes.ENTRIES + i * Layout.AioNote.SIZE;
                if (table.getLong(at + Layout.AioNote.CONTEXT) == context) {
                    return table.getLong(at + Layout.AioNote.PID) == process.ownPid()
                            ? table.getLong(at + Layout.AioNote.SUBMITTED) : -1;
                }
            }
            if (table.getInt(Layout.AioNotes.MAKING) > 0) {
                throw process.failed("a context of asynchronous I/O is being made (io_setup(2))");
            }
        }
        throw process.refuse(("what it has in flight of asynchronous I/O of the kernel (io_setup(2)) is not known: the "
                + "preloaded library counts it where it is submitted by libaio.so or syscall(3), to no more than %d "
                + "contexts; destroy the context at 0x%x first, or run the program without it")
                .formatted(Layout.AIO_NOTES, context));
    }

    /** The ring when all is complete: that comes from disks, and the process is not needed for it. */
    private static byte[] drained(AskedProcess process, long address, int bytes, long submitted) {
        long most = System.nanoTime() + MOST_NS;
        long deadline = System.nanoTime() + PROGRESS_NS;
        for (long last = -1;; LockSupport.parkNanos(200_000)) {
            byte[] ring = process.read(address, bytes);
            ByteBuffer words = ByteBuffer.wrap(ring).order(ByteOrder.LITTLE_ENDIAN);
            int events = words.getInt(AioContext.EVENTS);
            if (words.getInt(AioContext.MAGIC) != AioContext.RING_MAGIC || events != AioContextKind.events(bytes)) {
                throw process.refuse("the ring of asynchronous I/O at 0x%x is not as this udckpt knows it; destroy it "
                        .formatted(address) + "first (io_destroy(2))");
            }
            long inFlight = Math.floorMod(submitted - words.getInt(AioContext.TAIL), events);
            if (inFlight == 0) {
                return ring;
            }
            deadline = inFlight == last ? deadline : System.nanoTime() + PROGRESS_NS;
            if (System.nanoTime() > deadline || System.nanoTime() > most) {
                throw process.failed("asynchronous I/O (io_submit(2)) is in flight, %d requests, and cannot be "
                        .formatted(inFlight) + "checkpointed; try again when they are complete");
            }
            last = inFlight;
        }
    }
}
