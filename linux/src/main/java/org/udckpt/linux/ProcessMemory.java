package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * /proc/PID/mem of another process. It reads through a kernel bounce buffer and pins nothing, so that copy-on-write
 * pages of a snapshot stay shared (process_vm_readv pins, and pinning copies). Writes pass read-only protections.
 */
public final class ProcessMemory implements AutoCloseable {
    private final int pid;
    private final int fd;

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

    /** As many bytes as are readable from {@code address} on, at most the target's size; {@code -errno} if not one is. */
    public long readSome(long address, MemorySegment target) {
        return Syscall.call(Syscall.PREAD64, fd, target.address(), target.byteSize(), address);
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
        for (int done = 0; done < count; ) {
            int n = Math.min(count - done, Scratch.DATA_BYTES);
            read(address + done, data.asSlice(0, n));
            MemorySegment.copy(data, JAVA_BYTE, 0, out, done, n);
            done += n;
        }
        return out;
    }

    public void writeBytes(long address, byte[] bytes) {
        MemorySegment data = Scratch.data();
        for (int done = 0; done < bytes.length; ) {
            int n = Math.min(bytes.length - done, Scratch.DATA_BYTES);
            MemorySegment.copy(bytes, done, data, JAVA_BYTE, 0, n);
            write(address + done, data.asSlice(0, n));
            done += n;
        }
    }

    private void transfer(int call, long address, MemorySegment local, String verb) {
        long size = local.byteSize();
        for (long done = 0; done < size; ) {
            long n = Syscall.call(call, fd, local.address() + done, size - done, address + done);
            if (n <= 0) {
                throw new LinuxError("%s %d bytes at 0x%x of process %d".formatted(verb, size - done, address + done, pid), n == 0 ? LinuxError.ESRCH : (int) -n);
            }
            done += n;
        }
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
