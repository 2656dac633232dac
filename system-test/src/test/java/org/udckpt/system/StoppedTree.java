package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.picture.Picture;

/**
 * A job's processes in a stop of job control, which a checkpoint keeps: what the kernel says of them does not change
 * meanwhile.
 */
final class StoppedTree {
    private static final int SIGCONT = 18, SIGSTOP = 19;
    private static final long AWAIT_NS = TimeUnit.SECONDS.toNanos(60);

    private final Path runtime;
    private Set<Integer> pids = Set.of();

    /** @param runtime the job's runtime directory */
    StoppedTree(Path runtime) {
        this.runtime = runtime;
    }

    int size() {
        return pids.size();
    }

    /** Parents before children: who stands still makes no new ones. */
    void stop() throws IOException, InterruptedException {
        long end = System.nanoTime() + AWAIT_NS;
        Set<Integer> told = new HashSet<>();
        for (Set<Integer> found; !(found = find()).equals(pids) || !stopped();) {
            assertTrue(System.nanoTime() < end, "the processes do not stop");
            pids = found;
            pids.stream().filter(told::add).forEach(pid -> signal(pid, SIGSTOP)); // a second one would wait for ever
            Thread.sleep(20);
        }
    }

    /** Until so many are there again, as they were left. */
    void await(int count, Supplier<String> text) throws IOException, InterruptedException {
        long end = System.nanoTime() + AWAIT_NS;
        while ((pids = find()).size() != count || !stopped()) {
            assertTrue(System.nanoTime() < end,
                    () -> pids + " are there, and not " + count + " that stand still\n" + text.get());
            Thread.sleep(50);
        }
    }

    Picture picture(Predicate<String> launchers) {
        return Picture.of(pids, launchers);
    }

    void goOn() {
        pids.forEach(pid -> signal(pid, SIGCONT));
    }

    private static void signal(int pid, int number) {
        try (ProcessHandleFd process = new ProcessHandleFd(pid)) {
            process.signal(number);
        } catch (LinuxError gone) {
            assertEquals(LinuxError.ESRCH, gone.errno(), gone::getMessage);
        }
    }

    /** Also those that have written over their environment. */
    private Set<Integer> find() throws IOException {
        Set<Integer> found = new LinkedHashSet<>();
        RankProcesses.of(runtime).forEach(pid -> below(pid.intValue(), found));
        return found;
    }

    private static void below(int pid, Set<Integer> found) {
        int[] children;
        try {
            if (Proc.stat(pid)[0].equals("Z")) {
                return;
            }
            children = Proc.children(pid);
        } catch (LinuxError gone) {
            assertTrue(gone.errno() == LinuxError.ENOENT || gone.errno() == LinuxError.ESRCH, gone::getMessage);
            return; // it has ended since it was listed
        }
        found.add(pid);
        for (int child : children) {
            below(child, found);
        }
    }

    private boolean stopped() {
        return pids.stream().allMatch(StoppedTree::stopped);
    }

    private static boolean stopped(int pid) {
        return RankProcesses.states(pid).chars().allMatch(state -> state == 'T');
    }
}
