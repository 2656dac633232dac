package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * /proc/PID/mem of another process. It reads through a kernel bounce buffer and pins nothing, so that copy-on-write
 * pages of a snapshot stay shared (process_vm_readv pins, and pinning copies). Writes pass read-only protections.
 *
 * <p>It may be closed while other threads use it, as a checkpoint that is given up is: their next call fails, and the
 * descriptor's number is free only when the last of them is out. Else what one writes could go into another file.
 */
public final class ProcessMemory implements AutoCloseable {
    private static final int CLOSED = Integer.MIN_VALUE;

    private final int pid;
    private final int fd;
    /** Calls under way, and {@link #CLOSED}. */
    private final AtomicInteger uses = new AtomicInteger();

    public ProcessMemory(int pid) {
        this.pid = pid;
        this.fd = Files.open("/proc/" + pid + "/mem", Syscall.O_RDWR);
    }

    /** Fills {@code target} with the bytes at {@code address}. */
    public void read(long address, MemorySegment target) {
        transfer(Syscall.PREAD64, address, target, "read");
    }

    public void write(long address, MemorySegment source) {
        transfer(Syscall.PWRITE64, address, source, "write");
    }

    /**
     * As many bytes as are readable from {@code address} on, at most the target's size; {@code -errno} if not one is.
     */
    public long readSome(long address, MemorySegment target) {
        enter();
        try {
            return Syscall.call(Syscall.PREAD64, fd, target.address(), target.byteSize(), address);
        } finally {
            leave();
        }
    }

    public long readLong(long address) {
        MemorySegment data = Scratch.data().asSlice(0, 8);
        read(address, data);
        return data.get(JAVA_LONG_UNALIGNED, 0);
    }

    public int readInt(long address) {
        MemorySegment data = Scratch.data().asSlice(0, 4);
        read(address, data);
        return data.get(JAVA_INT_UNALIGNED, 0);
    }

    public byte[] readBytes(long address, int count) {
        byte[] out = new byte[count];
        MemorySegment data = Scratch.data();
        for (int done = 0; done < count;) {
            int n = Math.min(count - done, Scratch.DATA_BYTES);
            read(address + done, data.asSlice(0, n));
            MemorySegment.copy(data, JAVA_BYTE, 0, out, done, n);
            done += n;
        }
        return out;
    }

    public void writeBytes(long address, byte[] bytes) {
        MemorySegment data = Scratch.data();
        for (int done = 0; done < bytes.length;) {
            int n = Math.min(bytes.length - done, Scratch.DATA_BYTES);
            MemorySegment.copy(bytes, done, data, JAVA_BYTE, 0, n);
            write(address + done, data.asSlice(0, n));
            done += n;
        }
    }

    private void transfer(int call, long address, MemorySegment local, String verb) {
        enter();
        try {
            long size = local.byteSize();
            for (long done = 0; done < size;) {
                long n = Syscall.call(call, fd, local.address() + done, size - done, address + done);
                if (n <= 0) {
                    String what = "%s %d bytes at 0x%x of process %d".formatted(verb, size - done, address + done, pid);
                    throw new LinuxError(what, n == 0 ? LinuxError.ESRCH : (int) -n);
                }
                done += n;
            }
        } finally {
            leave();
        }
    }

    private void enter() {
        int now;
        do {
            now = uses.get();
            if (now < 0) {
                throw new LinuxError("the memory of process " + pid + ", which was given back", LinuxError.EBADF);
            }
        } while (!uses.compareAndSet(now, now + 1));
    }

    private void leave() {
        if (uses.decrementAndGet() == CLOSED) {
            Files.close(fd);
        }
    }

    @Override
    public void close() {
        int now;
        do {
            now = uses.get();
        } while (now >= 0 && !uses.compareAndSet(now, now | CLOSED));
        if (now == 0) {
            Files.close(fd);
        }
    }
}
