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
            hostPids.put(each.puppet().pid(), each.puppet().hostPid());
            (target.handedOver().contains(each.puppet().pid()) ? given : kept).add(each);
        }
    }

    /** Returns when the target lets the job go. */
    void hold() {
        for (Threads threads : given) {
            Puppet puppet = threads.puppet();
            LinuxError.check(Syscall.call(Syscall.KILL, puppet.hostPid(), SIGSTOP),
                    puppet.name() + ": stop it for a debugger");
            handedOver.add(puppet.hostPid()); // before the kernel forgets to kill it when this process ends
            threads.letGo();
        }
        given.forEach(threads -> awaitStop(threads.puppet()));
        target.awaitRelease(Map.copyOf(hostPids));
    }

    private static void awaitStop(Puppet puppet) {
        long deadline = System.nanoTime() + STOP_NS;
        for (int tid : Proc.threads(puppet.hostPid())) {
            if (!stops(puppet, tid, deadline)) {
                throw puppet.failed("its thread " + tid + " did not stop for the debugger");
            }
        }
    }

    private static boolean stops(Puppet puppet, int tid, long deadline) {
        while (!Proc.threadState(puppet.hostPid(), tid).equals("T")) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            LockSupport.parkNanos(100_000);
        }
        return true;
    }

    /** Those that this process does not trace any more, by its numbers. */
    List<Integer> handedOver() {
        return handedOver;
    }

    /** The processes that nobody was given; those that are stopped first, so that nobody sees them run. */
    void letGo() {
        List<Threads> first = kept.stream().filter(threads -> stopped.contains(threads.puppet().pid())).toList();
        first.forEach(Threads::letGo);
        long deadline = System.nanoTime() + STOP_AGAIN_NS; // somebody may have told them to go on
        first.forEach(threads -> stops(threads.puppet(), threads.puppet().hostPid(), deadline));
        kept.stream().filter(threads -> !stopped.contains(threads.puppet().pid())).forEach(Threads::letGo);
    }
}
