package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PidFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.KernelObject.Pipe;
import org.udckpt.process.model.KernelObject.PipeEnd;

/** Pipes and FIFOs: each end is an open file of its own, the bytes between them are read by tee(2) without taking them. */
final class PipeReader {
    private static final int F_GETPIPE_SZ = 1032, F_SETPIPE_SZ = 1031, FIONREAD = 0x541b, SPLICE_F_NONBLOCK = 2, POLL = 7;
    private static final int POLLIN = 1, POLLOUT = 4, POLLERR = 8, POLLHUP = 16;
    private static final int O_DIRECT = 040000;

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

    PipeReader(ObjectTable table) {
        this.table = table;
    }

    /** The id of this end. */
    long read(OpenDescriptor open) {
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
    void finish() {
        buffers.forEach((link, buffer) -> {
            if (buffer.writer == null && written(buffer)) {
                table.outside().cut(buffer.reader, "the writing end of this pipe is outside of the job", "redirect it to a file");
            }
            if (buffer.reader == null && (poll(buffer.writer, POLLOUT) & POLLERR) == 0) {
                table.outside().cut(buffer.writer, "the reading end of this pipe is outside of the job", "redirect it to a file");
            }
            byte[] contents = buffer.contents == null ? new byte[0] : buffer.contents;
            int capacity = buffer.reader == null ? 65536 : buffer.capacity;
            boolean named = link.startsWith("/") && !link.endsWith(" (deleted)"); // without its name it is a pipe like any other
            table.add(new Pipe(buffer.id, named ? link : null, capacity, contents));
            if (named) {
                OpenDescriptor end = buffer.reader == null ? buffer.writer : buffer.reader;
                Files.Stat file = end.stat();
                OpenedByName.found(end.process(), "FIFO", link, file);
                table.add(new JobName.Fifo(buffer.id, link, file.mode() & 07777, file.uid(), file.gid()));
            }
        });
    }

    /** Whether somebody could write: an empty pipe says so to tee(2) (EAGAIN, else 0), one with bytes has had a writer, and poll(2) tells when it has none. */
    private static boolean written(Buffer buffer) {
        if (buffer.contents.length > 0) {
            return (poll(buffer.reader, POLLIN) & POLLHUP) == 0;
        }
        MemorySegment numbers = Scratch.data();
        try (PidFd process = new PidFd(buffer.reader.process().pid)) {
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
        try (PidFd process = new PidFd(open.process().pid)) {
            int end = process.duplicate(open.fd());
            try {
                buffer.capacity = (int) LinuxError.check(Syscall.call(Syscall.FCNTL, end, F_GETPIPE_SZ), "size of a pipe");
                LinuxError.check(Syscall.call(Syscall.IOCTL, end, FIONREAD, Scratch.data().address()), "bytes in a pipe");
                int bytes = Scratch.data().get(JAVA_INT, 0);
                if (bytes > 0 && (open.flags() & O_DIRECT) != 0) {
                    throw open.refuse("a pipe in packet mode (O_DIRECT) with packets in it cannot be checkpointed");
                }
                buffer.contents = bytes == 0 ? new byte[0] : tee(end, bytes, buffer.capacity);
            } finally {
                Files.close(end);
            }
        }
    }

    private static byte[] tee(int end, int bytes, int capacity) {
        MemorySegment numbers = Scratch.data();
        LinuxError.check(Syscall.call(Syscall.PIPE2, numbers.address(), Syscall.O_CLOEXEC), "pipe2");
        int read = numbers.get(JAVA_INT, 0);
        int write = numbers.get(JAVA_INT, 4);
        try (Arena arena = Arena.ofConfined()) {
            LinuxError.check(Syscall.call(Syscall.FCNTL, write, F_SETPIPE_SZ, capacity), "size of a pipe");
            long n = LinuxError.check(Syscall.call(Syscall.TEE, end, write, bytes, SPLICE_F_NONBLOCK), "tee of a job's pipe");
            if (n != bytes) {
                throw new CaptureFailed("tee copied " + n + " of " + bytes + " bytes of a pipe");
            }
            MemorySegment copy = arena.allocate(bytes);
            for (long done = 0; done < bytes; ) {
                done += LinuxError.check(Syscall.call(Syscall.READ, read, copy.address() + done, bytes - done), "read of a teed pipe");
            }
            return copy.toArray(JAVA_BYTE);
        } finally {
            Files.close(read);
            Files.close(write);
        }
    }

    /** Events of one end right now: without the other end, HUP or ERR (poll(2)). */
    private static int poll(OpenDescriptor open, int events) {
        try (PidFd process = new PidFd(open.process().pid)) {
            int end = process.duplicate(open.fd());
            try {
                MemorySegment entry = Scratch.data();
                entry.set(JAVA_INT, 0, end);
                entry.set(JAVA_INT, 4, events);
                LinuxError.check(Syscall.call(POLL, entry.address(), 1, 0), "poll of a pipe");
                return entry.get(JAVA_SHORT, 6);
            } finally {
                Files.close(end);
            }
        }
    }
}
