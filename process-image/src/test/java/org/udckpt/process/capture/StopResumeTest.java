package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.process.model.ProcessState;

/** Programs that check themselves all the time do not notice that they are captured. */
@Timeout(360)
class StopResumeTest {
    @Test
    void twoHundredTimes() throws Exception {
        captureMany("threads", Target.LIBRARY, 200, 3);
    }

    @Test
    void withoutTheLibrary() throws Exception {
        captureMany("threads", null, 30, 3);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"altstack", "avx_state", "barrier", "blocked_calls", "brk_heap", "condvar",
            "cwd_umask_rlimit", "deleted_file", "dup_fds",
            "epoll", "eventfd", "fifo", "file_offset", "forked_child", "fpu_denormal", "futex_wait", "huge_pages",
            "itimer", "memfd", "mmap_kinds", "mutex",
            "nanosleep", "pipe_data", "poll", "posix_timer", "proc_sysfs_fds", "robust_mutex", "rseq", "rwlock",
            "session_pgrp", "shared_memory",
            "signalfd", "signals", "socketpair_data", "sysv_shm", "thread_names", "timerfd", "tls", "vdso_time",
            "zombie"})
    void everyFeature(String feature) throws Exception {
        captureMany(feature, Target.LIBRARY, 12, 20);
    }

    @Test
    void childrenThatEnd() throws Exception {
        try (Target target = Target.own("vfork")) {
            captureMany(target, 60, 20);
        }
    }

    /** Snapshots are no children of the job's, not even of who takes orphans in. */
    @Test
    void aSubreaper() throws Exception {
        try (Target target = Target.own("subreaper")) {
            captureMany(target, 20, 5);
        }
    }

    private static void captureMany(String feature, Path library, int rounds, int mostPause) throws Exception {
        System.out.println("StopResumeTest " + feature);
        try (Target target = Target.feature(feature, library)) {
            captureMany(target, rounds, mostPause);
        }
    }

    private static void captureMany(Target target, int rounds, int mostPause) throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Set<Integer> snapshots = new HashSet<>();
        List<Integer> processes = target.lasting();
        for (int i = 0; i < rounds; i++) {
            Thread.sleep(random.nextInt(mostPause + 1), random.nextInt(1_000_000));
            try (Capture capture = Capture.take(target.request())) {
                for (int pid : capture.snapshotPids()) {
                    snapshots.add(pid);
                }
                if (i % 4 == 0) {
                    List<Integer> captured = capture.image().processes().stream().map(ProcessState::pid).toList();
                    assertTrue(captured.containsAll(processes),
                            () -> "the whole tree: " + processes + " in " + captured);
                    capture.sources();
                }
            }
        }
        snapshots.retainAll(target.processes());
        assertEquals(Set.of(), snapshots, "no snapshot is left");
        assertEquals("PASS", target.verdict().split(" ")[0], "seed " + seed);
    }
}
