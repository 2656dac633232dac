package org.udckpt.process.huge;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/** On memory of the test's own process. */
@Timeout(120)
class HugePagesTest {
    private static final int BLOCKS = 16;
    private static final int MADVISE = 28, MADV_DONTNEED = 4, MADV_HUGEPAGE = 14;
    private static final int PAGE = 4096;

    @Test
    void whatFellApartIsJoined() {
        long size = (BLOCKS + 1) * SplitPages.HUGE;
        long mapped = LinuxError.check(Syscall.call(Syscall.MMAP, 0, size, 3, 0x22, -1, 0), "mmap");
        try {
            long start = (mapped + SplitPages.HUGE - 1) & -SplitPages.HUGE;
            MemorySegment memory = MemorySegment.ofAddress(start).reinterpret(BLOCKS * SplitPages.HUGE);
            LinuxError.check(Syscall.call(MADVISE, start, memory.byteSize(), MADV_HUGEPAGE), "madvise");
            memory.fill((byte) 7);
            assumeTrue(split(start).isEmpty(), "no transparent huge pages are to be had here");
            for (long at = 0; at < memory.byteSize(); at += SplitPages.HUGE) {
                Syscall.call(MADVISE, start + at + 5 * PAGE, PAGE, MADV_DONTNEED);
                memory.set(JAVA_BYTE, at + 5 * PAGE, (byte) 8);
            }
            assertEquals(BLOCKS, split(start).size());
            HugePages.Pass none = HugePages.join(self(), () -> true, _ -> {});
            assertEquals(new HugePages.Pass(0, HugePages.End.GIVEN_UP), none);
            HugePages.Pass pass = HugePages.join(self(), () -> false, _ -> {});
            assumeTrue(pass.end() != HugePages.End.NOT_PERMITTED, "needs CAP_SYS_NICE");
            assertEquals(HugePages.End.DONE, pass.end());
            assertEquals(List.of(), split(start));
            assertTrue(pass.joined() > 0, "all joined by the kernel's own daemon: " + pass);
            assertEquals(8, memory.get(JAVA_BYTE, 5 * PAGE));
            assertEquals(0, memory.get(JAVA_BYTE, 5 * PAGE + 1));
            assertEquals(7, memory.get(JAVA_BYTE, memory.byteSize() - 1));
        } finally {
            Syscall.call(Syscall.MUNMAP, mapped, size);
        }
    }

    /**
     * A huge page would be a copy for each of the processes. Small pages of 4 MiB that could be huge ones:
     * process-image/src/test/c/fork_mappings.c.
     */
    @Test
    void whatAForkSharesIsNotJoined(@TempDir Path directory) throws Exception {
        Process parent = new ProcessBuilder(System.getProperty("udckpt.native") + "/features/fork_mappings",
                directory.toString()).start();
        try {
            for (int round = 0; round < 3000 && !Files.exists(directory.resolve("ready")); round++) {
                Thread.sleep(10);
            }
            assertTrue(Files.exists(directory.resolve("ready")), "the program does not begin");
            for (ProcessHandle process : List.of(parent.toHandle(), parent.children().findFirst().orElseThrow())) {
                HugePages.Pass pass = HugePages.join((int) process.pid(), () -> false, _ -> {});
                assumeTrue(pass.end() != HugePages.End.NOT_PERMITTED, "needs CAP_SYS_NICE");
                assertEquals(new HugePages.Pass(0, HugePages.End.DONE), pass);
            }
            Files.createFile(directory.resolve("finish"));
            assertTrue(parent.waitFor(60, TimeUnit.SECONDS), "the program does not end");
            assertEquals("PASS\n", Files.readString(directory.resolve("result")));
        } finally {
            parent.descendants().forEach(ProcessHandle::destroyForcibly);
            parent.destroyForcibly().waitFor();
        }
    }

    private static int self() {
        return (int) ProcessHandle.current().pid();
    }

    private static List<Long> split(long start) {
        return SplitPages.of(self()).stream()
                .filter(block -> block >= start && block < start + BLOCKS * SplitPages.HUGE).toList();
    }

    @Test
    void eligibleMappings() {
        String smaps = """
                7f0000000000-7f0000400000 rw-p 00000000 00:00 0
                Size:               4096 kB
                THPeligible:           1
                VmFlags: rd wr mr mw me ac hg
                7f0000400000-7f0000500000 r--p 00001000 08:01 123   /usr/lib/a-b.so
                THPeligible:           0
                """;
        List<long[]> found = SplitPages.eligible(smaps);
        assertEquals(1, found.size());
        assertEquals(0x7f0000000000L, found.getFirst()[0]);
        assertEquals(0x7f0000400000L, found.getFirst()[1]);
    }

    @Test
    void aProcessThatHasEnded() throws Exception {
        Process process = new ProcessBuilder("true").start();
        process.waitFor();
        assertEquals(HugePages.End.GONE, HugePages.join((int) process.pid(), () -> false, _ -> {}).end());
    }
}
