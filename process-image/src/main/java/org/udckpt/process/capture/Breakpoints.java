package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.util.Arrays;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * Refuses to take a tracer away from a process that could not run without it: its code has breakpoints (int3) where its
 * file has other bytes, and nobody would take the SIGTRAP; or a filter of its system calls asks the tracer. Debuggers
 * have breakpoints in a program only while it runs. Those in code that is in no file are not found.
 */
final class Breakpoints {
    private static final int PAGE = 4096;
    private static final byte INT3 = (byte) 0xcc;
    private static final String FILTERS = "Seccomp_filters:";

    private final TracedProcess process;
    private final TracedProcess tracer;

    private Breakpoints(TracedProcess process, TracedProcess tracer) {
        this.process = process;
        this.tracer = tracer;
    }

    static void refuse(TracedProcess process, TracedProcess tracer) {
        Breakpoints breakpoints = new Breakpoints(process, tracer);
        try (ProcessMemory memory = new ProcessMemory(process.pid)) {
            breakpoints.refuseFilters();
            for (Mapping mapping : Mapping.of(process.pid)) {
                if (mapping.executable() && !mapping.shared() && mapping.file()) {
                    breakpoints.look(mapping, memory);
                }
            }
        } catch (LinuxError failure) {
            throw new CaptureFailed("%s cannot be looked at for breakpoints: %s".formatted(process,
                    failure.getMessage()), failure);
        }
    }

    /** SECCOMP_RET_TRACE makes calls fail when there is no tracer (strace --seccomp-bpf). */
    private void refuseFilters() {
        String own = Proc.field(Proc.text("/proc/self/status"), FILTERS);
        String filters = Proc.field(Proc.text("/proc/" + process.pid + "/status"), FILTERS);
        if (own != null && !own.equals(filters)) {
            throw process.refuse("it has filters of system calls (seccomp(2)), which may need its tracer, " + tracer
                    + ": let that one detach");
        }
    }

    private void look(Mapping mapping, ProcessMemory memory) {
        int most = Scratch.DATA_BYTES / Long.BYTES;
        boolean[] own = new boolean[most];
        try (PageFrames frames = new PageFrames(new Pagemap(process, process.pid))) {
            for (long at = mapping.start(); at < mapping.end(); at += (long) most * PAGE) {
                int count = (int) Math.min(most, (mapping.end() - at) / PAGE);
                frames.readOwn(at, count, own, Scratch.data());
                for (int i = 0; i < count; i++) {
                    if (own[i]) {
                        compare(mapping, at + (long) i * PAGE, memory);
                    }
                }
            }
        }
    }

    private void compare(Mapping mapping, long address, ProcessMemory memory) {
        byte[] now = memory.readBytes(address, PAGE);
        byte[] file = page(mapping, mapping.offset() + address - mapping.start());
        for (int i = 0; i < PAGE; i++) {
            if (now[i] == INT3 && file[i] != INT3) {
                throw process.refuse(("its debugger, %s, has a breakpoint in it, at 0x%x of %s: interrupt the program "
                        + "in the debugger, which takes breakpoints out, or let it detach").formatted(tracer,
                                address + i, mapping.path()));
            }
        }
    }

    /** Of the file as it was mapped; one that is not there any more cannot tell. */
    private byte[] page(Mapping mapping, long offset) {
        long fd = Files.tryOpen("/proc/" + process.pid + "/root" + mapping.path(), Syscall.O_RDONLY);
        if (fd < 0) {
            throw unknown(mapping);
        }
        try {
            if (Files.stat("/proc/self/fd/" + fd).inode() != mapping.inode()) {
                throw unknown(mapping);
            }
            long n = LinuxError.check(
                    Syscall.call(Syscall.PREAD64, fd, Scratch.data().address(), PAGE, offset), "read ",
                    mapping.path());
            return Arrays.copyOf(Scratch.data().asSlice(0, n).toArray(JAVA_BYTE), PAGE);
        } finally {
            Files.close((int) fd);
        }
    }

    private CaptureRefused unknown(Mapping mapping) {
        return process.refuse("its code of " + mapping.path() + " was changed, and the file is not there to tell "
                + "whether its debugger, " + tracer + ", has breakpoints in it: let that one detach");
    }
}
