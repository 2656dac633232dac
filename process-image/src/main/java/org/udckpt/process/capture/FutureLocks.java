package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.RLIMIT_AS;
import static org.udckpt.linux.LinuxConstants.RLIMIT_DATA;
import static org.udckpt.linux.LinuxConstants.RLIMIT_MEMLOCK;

import java.util.List;
import org.udckpt.linux.Limits;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Injector;

/**
 * Whether a process has locked what it will map (mlockall(2), MCL_FUTURE), which the kernel does not tell: a page that
 * is mapped for a moment is locked then. Only processes with locked memory are tried: with MCL_FUTURE the next page
 * that they map is.
 */
final class FutureLocks {
    private static final int MINCORE = 27, READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22, PAGE = 4096;
    /** A mapping that surely finds its place among addresses. */
    private static final long LARGEST = 1L << 40;
    private static final int MCL_FUTURE = 2, MCL_ONFAULT = 4;

    private FutureLocks() {}

    static void ask(List<TracedProcess> processes) {
        for (TracedProcess process : processes) {
            if (!"0 kB".equals(Proc.field(process.status, "VmLck:"))) {
                process.lockFuture = flags(process);
            }
        }
    }

    private static int flags(TracedProcess process) {
        Injector injector = process.main().injector;
        long page = injector.call(Syscall.MMAP, 0, PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
        if (page == -LinuxError.ENOMEM) {
            return withoutRoom(process, injector);
        }
        return flags(process, injector, page);
    }

    private static int flags(TracedProcess process, Injector injector, long page) {
        if (page == -LinuxError.EAGAIN) { // it would be locked, and is more than may be
            return MCL_FUTURE;
        }
        LinuxError.check(page, "mmap in thread " + injector.tid());
        boolean locked = !Proc.field(process.status, "VmLck:")
                .equals(Proc.field(Proc.text("/proc/" + process.task() + "/status"), "VmLck:"));
        long results = Parasite.results(process.main().frame);
        boolean there = locked && injector.call(MINCORE, page, PAGE, results) == 0
                && (process.memory.readBytes(results, 1)[0] & 1) != 0;
        injector.check("munmap", Syscall.MUNMAP, page, PAGE);
        return !locked ? 0 : there ? MCL_FUTURE : MCL_FUTURE | MCL_ONFAULT;
    }

    /**
     * Of a process that has all the memory that it may have: by a page above its limits of address space and data,
     * where these may be raised. Else by what the kernel looks at first, the limit of locked memory: a mapping that is
     * larger fails with EAGAIN if it would be locked.
     */
    private static int withoutRoom(TracedProcess process, Injector injector) {
        try (RaisedLimit _ = new RaisedLimit(process.pid, RLIMIT_AS);
                RaisedLimit _ = new RaisedLimit(process.pid, RLIMIT_DATA)) {
            long page = injector.call(Syscall.MMAP, 0, PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
            if (page != -LinuxError.ENOMEM) {
                return flags(process, injector, page);
            }
        }
        long most = Limits.of(process.pid)[2 * RLIMIT_MEMLOCK];
        if (most > LARGEST) { // also "unlimited", which is -1 as an unsigned number
            throw process.refuse("it has locked memory and no room for another page (RLIMIT_AS, RLIMIT_DATA), so "
                    + "udckpt cannot find out whether mlockall(MCL_FUTURE) is in effect");
        }
        long mapped = injector.call(Syscall.MMAP, 0, (most / PAGE + 1) * PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
        return mapped == -LinuxError.EAGAIN ? MCL_FUTURE : 0;
    }
}
