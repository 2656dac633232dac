package org.udckpt.process.capture;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.trace.TracerThread;

/**
 * Debuggers and the like within a job: a process has one tracer (ptrace(2)), so the capture cannot seize what another
 * process traces. Only the tracer itself can let go, and one that belongs to the job can be made to: the request is
 * injected into the thread that traces. It learns of it when its next request fails, or when nothing is left to wait
 * for.
 */
public final class JobTracers {
    private static final String TRACER = "TracerPid:";
    /** A process that is let go may just have made another one, which its tracer has too. */
    private static final int ROUNDS = 20;

    /** A thread that is traced. All numbers are the agent's. @param tracer the thread that traces it */
    record Traced(int pid, int tid, int tracer) {}

    private final List<CaptureRequest.Root> roots;
    private final Set<String> said = new LinkedHashSet<>();

    private JobTracers(List<CaptureRequest.Root> roots) {
        this.roots = roots;
    }

    /**
     * What traces a process, and the way out: the end of a sentence.
     *
     * @param tracer as /proc/PID/status of the process names it
     * @param roots  all ranks' first processes
     */
    public static String wordsOf(int tracer, List<Integer> roots) {
        return "process " + tracer + " (" + name(tracer) + "), and a process can have only one tracer: detach it first"
                + (processes(roots).contains(owner(tracer))
                        ? ", or let the checkpoint do so (--detach-debuggers)" : "; it is not part of the job");
    }

    /**
     * Makes tracers that belong to the job detach from its processes, which then run as without them. Signals that
     * were on their way to a traced thread arrive.
     *
     * @return who was detached from whom, in words for people
     * @throws CaptureRefused a tracer is outside of the job, or what it traces could not run without it
     * @throws CaptureFailed it may succeed another time
     */
    public static List<String> detach(List<CaptureRequest.Root> roots) {
        JobTracers tracers = new JobTracers(roots);
        for (int round = 0; round < ROUNDS; round++) {
            if (!tracers.detachOutermost()) {
                return List.copyOf(tracers.said);
            }
        }
        throw new CaptureFailed("processes of the job go on being traced");
    }

    /** By those tracers that nobody traces: others cannot be seized yet. False: nothing is traced. */
    private boolean detachOutermost() {
        Map<Integer, Integer> owners = new HashMap<>();
        Map<Integer, List<Traced>> byTracer = new LinkedHashMap<>();
        Set<Integer> traced = new HashSet<>();
        for (int pid : processes(roots.stream().map(CaptureRequest.Root::pid).toList())) {
            for (int tid : Proc.threads(pid)) {
                owners.put(tid, pid);
                int tracer = tracerOf(pid, tid);
                if (tracer != 0) {
                    byTracer.computeIfAbsent(tracer, _ -> new ArrayList<>()).add(new Traced(pid, tid, tracer));
                    traced.add(tid);
                }
            }
        }
        byTracer.forEach((tracer, tracees) -> refuse(tracer, owners.get(tracer), tracees));
        byTracer.forEach((tracer, tracees) -> {
            if (!traced.contains(tracer)) {
                detach(process(owners.get(tracer)), tracer, tracees);
            }
        });
        return !byTracer.isEmpty();
    }

    /** Before anything is changed. @param owner the tracer's process in the job, or null */
    private void refuse(int tracer, Integer owner, List<Traced> tracees) {
        for (int pid : new TreeSet<>(tracees.stream().map(Traced::pid).toList())) {
            if (owner == null) {
                throw process(pid).refuse("it is traced by process " + tracer + " (" + name(tracer)
                        + "), which is not part of the job: detach it first");
            }
            Breakpoints.refuse(process(pid), process(owner));
        }
    }

    private void detach(TracedProcess tracer, int thread, List<Traced> tracees) {
        try (TracerThread own = new TracerThread("detach-debugger")) {
            own.call(() -> {
                TracerDetach.make(tracer, thread, tracees);
                return null;
            });
        }
        tracees.forEach(one -> said.add(tracer + " was detached from " + process(one.pid)));
    }

    /** The first rank stands for all: messages name it by pid and program. */
    private TracedProcess process(int pid) {
        CaptureRequest.Root first = roots.getFirst();
        return TracedProcess.orphan(new CaptureRequest.Root(first.rank(), pid, new int[0], new long[0],
                CaptureRequest.NONE, CaptureRequest.NONE, List.of(), true), pid);
    }

    /** All of a job, also those whose parents have ended. */
    private static Set<Integer> processes(List<Integer> roots) {
        Set<Integer> found = new LinkedHashSet<>(roots);
        Deque<Integer> open = new ArrayDeque<>(roots);
        try {
            open.addAll(SharingCheck.orphans(roots.getFirst(), Set.copyOf(roots)));
        } catch (LinuxError ended) {
            // a rank: what that means for a checkpoint, the capture says
        }
        while (!open.isEmpty()) {
            int pid = open.pop();
            found.add(pid);
            for (int child : Proc.children(pid)) {
                if (!found.contains(child)) {
                    open.push(child);
                }
            }
        }
        return found;
    }

    /** The thread that traces another; 0: none does, it has ended, or it is one of this process. */
    static int tracerOf(int pid, int tid) {
        try {
            String tracer = Proc.field(Proc.text("/proc/" + pid + "/task/" + tid + "/status"), TRACER);
            return SharingCheck.ours(tracer) ? 0 : Integer.parseInt(tracer);
        } catch (LinuxError ended) {
            return 0;
        }
    }

    /** The process of a thread; 0: it has ended. */
    private static int owner(int thread) {
        try {
            return Integer.parseInt(Proc.field(Proc.text("/proc/" + thread + "/status"), "Tgid:"));
        } catch (LinuxError ended) {
            return 0;
        }
    }

    private static String name(int pid) {
        try {
            return Proc.text("/proc/" + pid + "/comm").strip();
        } catch (LinuxError ended) {
            return "just ended";
        }
    }
}
