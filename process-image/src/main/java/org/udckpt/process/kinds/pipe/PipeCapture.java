package org.udckpt.process.kinds.pipe;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.FIONREAD;
import static org.udckpt.linux.LinuxConstants.F_SETPIPE_SZ;
import static org.udckpt.linux.LinuxConstants.O_DIRECT;
import static org.udckpt.linux.LinuxConstants.POLLERR;
import static org.udckpt.linux.LinuxConstants.POLLHUP;
import static org.udckpt.linux.LinuxConstants.POLLIN;
import static org.udckpt.linux.LinuxConstants.POLLOUT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.OpenedByName;
import org.udckpt.process.model.JobName;

/**
 * Pipes and FIFOs: each end is an open file of its own, the bytes between them are read by tee(2) without taking them.
 */
final class PipeCapture implements KindCapture {
    private static final int F_GETPIPE_SZ = 1032, SPLICE_F_NONBLOCK = 2;

    /** The ends seen so far; {@code contents} is null until a reading end is. */
    private static final class Buffer {
        long id;
        int capacity;
        byte[] contents;
        OpenDescriptor reader;
        OpenDescriptor writer;
    }

    private final ObjectTable table;
    private final Map<String, Buffer> buffers = new HashMap<>();

    PipeCapture(CaptureScope scope) {
        this.table = scope.table();
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.link().startsWith("pipe:") || open.link().startsWith("/") && open.stat().type() == Files.Stat.FIFO;
    }

    /** The id of this end. */
    @Override
    public long read(OpenDescriptor open) {
        Buffer buffer = buffers.computeIfAbsent(open.link(), unused -> new Buffer());
        if (buffer.id == 0) {
            buffer.id = table.newId();
        }
        int access = open.flags() & 3;
        if (access != Syscall.O_WRONLY) {
            buffer.reader = open;
        }
        if (access != Syscall.O_RDONLY) {
            buffer.writer = open;
        }
        if (buffer.contents == null && access != Syscall.O_WRONLY) {
            readContents(open, buffer);
        }
        long id = table.newId();
        table.add(new PipeEnd(id, buffer.id, access != Syscall.O_RDONLY, open.openFlags()));
        return id;
    }

    /** Adds the buffers, and refuses a pipe whose other end is outside of the job. */
    @Override
    public void finish() {
        buffers.forEach((link, buffer) -> {
            if (buffer.writer == null && written(buffer)) {
                table.outside().add(
                        buffer.reader, "the writing end of this pipe is outside of the job", "redirect it to a file");
            }
            if (buffer.reader == null && (poll(buffer.writer, POLLOUT) & POLLERR) == 0) {
                table.outside().add(
                        buffer.writer, "the reading end of this pipe is outside of the job", "redirect it to a file");
            }
            byte[] contents = buffer.contents == null ? new byte[0] : buffer.contents;
            int capacity = buffer.reader == null ? 65536 : buffer.capacity;
            // without its name it is a pipe like any other
            boolean named = link.startsWith("/") && !link.endsWith(" (deleted)");
            table.add(new Pipe(buffer.id, named ? link : null, capacity, contents));
            if (named) {
                OpenDescriptor end = buffer.reader == null ? buffer.writer : buffer.reader;
                Files.Stat file = end.stat();
                OpenedByName.found(end.process(), "FIFO", link, file);
                if (end.process().ownsFileSystem(file, end.proc())) {
                    return; // it comes with that
                }
                table.add(new JobName.Fifo(buffer.id, link, file.mode() & 07777, file.uid(), file.gid()));
            }
        });
    }

    /**
     * Whether somebody could write: an empty pipe says so to tee(2) (EAGAIN, else 0), one with bytes has had a writer,
     * and poll(2) tells when it has none.
     */
    private static boolean written(Buffer buffer) {
        if (buffer.contents.length > 0) {
            return (poll(buffer.reader, POLLIN) & POLLHUP) == 0;
        }
        MemorySegment numbers = Scratch.data();
        try (ProcessHandleFd process = new ProcessHandleFd(buffer.reader.process().task())) {
            int end = process.duplicate(buffer.reader.fd());
            LinuxError.check(Syscall.call(Syscall.PIPE2, numbers.address(), Syscall.O_CLOEXEC), "pipe2");
            int read = numbers.get(JAVA_INT, 0);
            int write = numbers.get(JAVA_INT, 4);
            try {
                return Syscall.call(Syscall.TEE, end, write, 1, SPLICE_F_NONBLOCK) != 0;
            } finally {
                Files.close(read);
                Files.close(write);
                Files.close(end);
            }
        }
    }

    private static void readContents(OpenDescriptor open, Buffer buffer) {
        try (ProcessHandleFd process = new ProcessHandleFd(open.process().task())) {
            int end = process.duplicate(open.fd());
            try {
                buffer.capacity =
                        (int) LinuxError.check(Syscall.call(Syscall.FCNTL, end, F_GETPIPE_SZ), "size of a pipe");
                LinuxError.check(
                        Syscall.call(Syscall.IOCTL, end, FIONREAD, Scratch.data().address()), "bytes in a pipe");
                int bytes = Scratch.data().get(JAVA_INT, 0);
                if (bytes > 0 && (open.flags() & O_DIRECT) != 0) {
                    throw open.refuse("a pipe in packet mode (O_DIRECT) with packets in it cannot be checkpointed");
                }
                buffer.contents = bytes == 0 ? new byte[0] : tee(open, end, bytes, buffer.capacity);
            } finally {
                Files.close(end);
            }
        }
    }

    private static byte[] tee(OpenDescriptor open, int end, int bytes, int capacity) {
        MemorySegment numbers = Scratch.data();
        LinuxError.check(Syscall.call(Syscall.PIPE2, numbers.address(), Syscall.O_CLOEXEC), "pipe2");
        int read = numbers.get(JAVA_INT, 0);
        int write = numbers.get(JAVA_INT, 4);
        try (Arena arena = Arena.ofConfined()) {
            LinuxError.check(Syscall.call(Syscall.FCNTL, write, F_SETPIPE_SZ, capacity), "size of a pipe");
            long n = LinuxError.check(
                    Syscall.call(Syscall.TEE, end, write, bytes, SPLICE_F_NONBLOCK), "tee of a job's pipe");
            if (n != bytes) {
                throw open.failed("tee copied " + n + " of " + bytes + " bytes of a pipe");
            }
            MemorySegment copy = arena.allocate(bytes);
            for (long done = 0; done < bytes;) {
                done += LinuxError.check(
                        Syscall.call(Syscall.READ, read, copy.address() + done, bytes - done), "read of a teed pipe");
            }
            return copy.toArray(JAVA_BYTE);
        } finally {
            Files.close(read);
            Files.close(write);
        }
    }

    /** Events of one end right now: without the other end, HUP or ERR (poll(2)). */
    private static int poll(OpenDescriptor open, int events) {
        try (ProcessHandleFd process = new ProcessHandleFd(open.process().task())) {
            int end = process.duplicate(open.fd());
            try {
                MemorySegment entry = Scratch.data();
                entry.set(JAVA_INT, 0, end);
                entry.set(JAVA_INT, 4, events);
                LinuxError.check(Syscall.call(Syscall.POLL, entry.address(), 1, 0), "poll of a pipe");
                return entry.get(JAVA_SHORT, 6);
            } finally {
                Files.close(end);
            }
        }
    }
}
