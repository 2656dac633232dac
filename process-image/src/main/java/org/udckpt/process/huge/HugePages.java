package org.udckpt.process.huge;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;

/**
 * Gives a process its transparent huge pages back. Those that it writes to while a snapshot shares them fall apart into
 * small ones (a copy-on-write fault copies 4 KiB), and khugepaged would take minutes per GiB to join them again.
 */
public final class HugePages {
    /** Of a huge page. */
    public static final long BYTES = 2 << 20;
    private static final int PROCESS_MADVISE = 440;
    private static final String SETTINGS = "/sys/kernel/mm/transparent_hugepage";
    // Linux 6.1; of another process from 6.1 on too, with CAP_SYS_NICE (process_madvise(2))
    private static final int MADV_COLLAPSE = 25;
    /** After each block the process is left alone for so many times as long as its block took. */
    private static final int REST = 3;

    private HugePages() {}

    /**
     * Whether any of this memory may be in huge pages. That asks no process: the kernel would look at each page.
     *
     * @param flags VmFlags of its mappings
     */
    public static boolean in(Stream<String> flags) {
        return everywhere() || flags.anyMatch(one -> (" " + one + " ").contains(" hg "));
    }

    /** Also where madvise(2) has not asked for them. */
    private static boolean everywhere() {
        return Stream.of("enabled", "hugepages-2048kB/enabled").map(file -> Path.of(SETTINGS, file))
                .anyMatch(file -> Files.exists(file) && Proc.text(file.toString()).contains("[always]"));
    }

    /** How a pass ended. */
    public enum End {
        DONE, GIVEN_UP, NOT_PERMITTED, NO_HUGE_PAGES, GONE
    }

    /** @param joined huge pages that were made */
    public record Pass(int joined, End end) {}

    /**
     * Joins what can be joined, a quarter of the time at most. The process runs meanwhile, and waits for what is being
     * copied where it touches just that.
     *
     * @param givenUp asked before each huge page, and before its mappings are read, for which the kernel locks its
     *     memory (7 ms a GiB); while a snapshot lives, nothing must be joined: it would be copied
     * @param joining is told the address of each block before it is joined
     */
    public static Pass join(int pid, BooleanSupplier givenUp, LongConsumer joining) {
        int joined = 0;
        if (givenUp.getAsBoolean()) {
            return new Pass(joined, End.GIVEN_UP);
        }
        int task = Proc.living(pid);
        try (ProcessHandleFd process = new ProcessHandleFd(task); Arena arena = Arena.ofConfined()) {
            MemorySegment range = arena.allocate(16, 8);
            for (long block : SplitPages.of(task)) {
                if (givenUp.getAsBoolean()) {
                    return new Pass(joined, End.GIVEN_UP);
                }
                range.set(JAVA_LONG, 0, block);
                range.set(JAVA_LONG, 8, SplitPages.HUGE);
                long begin = System.nanoTime();
                joining.accept(block);
                long result = Syscall.call(PROCESS_MADVISE, process.number(), range.address(), 1, MADV_COLLAPSE, 0);
                if (result == SplitPages.HUGE) {
                    joined++;
                } else if (result == -LinuxError.EPERM) {
                    return new Pass(joined, End.NOT_PERMITTED);
                } else if (result == -LinuxError.ENOMEM) {
                    return new Pass(joined, End.NO_HUGE_PAGES);
                } else if (result == -LinuxError.ESRCH) {
                    return new Pass(joined, End.GONE);
                } // else it has changed meanwhile, or is pinned (EAGAIN, EBUSY, EINVAL): khugepaged may find it later
                LockSupport.parkNanos(REST * (System.nanoTime() - begin));
            }
            return new Pass(joined, End.DONE);
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ESRCH || e.errno() == LinuxError.ENOENT) {
                return new Pass(joined, End.GONE);
            }
            throw e;
        }
    }
}
