package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.SIGSTOP;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;

/**
 * The moment in which all of a restored job is there and nothing of it has run. A process has one tracer only: those
 * that a debugger is to have are left in a job-control stop, which begins before the kernel lets a thread out of our
 * stop, so that not one instruction is lost.
 */
final class FirstInstruction {
    private static final long STOP_NS = TimeUnit.SECONDS.toNanos(10), STOP_AGAIN_NS = TimeUnit.SECONDS.toNanos(1);

    private final List<Threads> kept = new ArrayList<>();
    private final List<Threads> given = new ArrayList<>();
    private final Map<Integer, Integer> hostPids = new HashMap<>();
    private final Set<Integer> stopped;
    private final RestoreTarget target;
    private final List<Integer> handedOver = new ArrayList<>();

    /**
     * @param threads of all processes, in our stop, with their registers
     * @param stopped processes for which a signal waits that stops them
     */
    FirstInstruction(List<Threads> threads, Set<Integer> stopped, RestoreTarget target) {
        this.stopped = stopped;
        this.target = target;
        for (Threads each : threads) {
            hostPids.put(each.tracee().pid(), each.tracee().hostPid());
            (target.handedOver().contains(each.tracee().pid()) ? given : kept).add(each);
        }
    }

    /** Returns when the target lets the job go. */
    void hold() {
        for (Threads threads : given) {
            Tracee tracee = threads.tracee();
            LinuxError.check(Syscall.call(Syscall.KILL, tracee.hostPid(), SIGSTOP),
                    tracee.name() + ": stop it for a debugger");
            handedOver.add(tracee.hostPid()); // before the kernel forgets to kill it when this process ends
            threads.letGo();
        }
        given.forEach(threads -> awaitStop(threads.tracee()));
        target.awaitRelease(Map.copyOf(hostPids));
    }

    private static void awaitStop(Tracee tracee) {
        long deadline = System.nanoTime() + STOP_NS;
        for (int tid : Proc.threads(tracee.hostPid())) {
            if (!Proc.isWorker(tracee.hostPid(), tid) && !stops(tracee, tid, deadline)) {
                throw tracee.failed("its thread " + tid + " did not stop for the debugger");
            }
        }
    }

    private static boolean stops(Tracee tracee, int tid, long deadline) {
        // a main thread may have ended
        while (!Set.of("T", "Z").contains(Proc.threadState(tracee.hostPid(), tid))) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            LockSupport.parkNanos(100_000);
        }
        return true;
    }

    /** Processes that this process has stopped tracing, by the pids that it sees. */
    List<Integer> handedOver() {
        return handedOver;
    }

    /** The processes that nobody was given; those that are stopped first, so that nobody sees them run. */
    void letGo() {
        List<Threads> first = kept.stream().filter(threads -> stopped.contains(threads.tracee().pid())).toList();
        first.forEach(Threads::letGo);
        long deadline = System.nanoTime() + STOP_AGAIN_NS; // somebody may have told them to go on
        first.forEach(threads -> stops(threads.tracee(), threads.living(), deadline));
        kept.stream().filter(threads -> !stopped.contains(threads.tracee().pid())).forEach(Threads::letGo);
    }
}
