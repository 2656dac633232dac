package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.MonotonicClock;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Injector;

/**
 * Refuses a job that has made a System V segment to which nobody is attached: no process shows it, so a restart would
 * not have it. In an ipc namespace of the job's own (a restarted one) every segment is the job's; in the agent's, those
 * that a process of the job has made or was the last to use: since it started, for ids are used again.
 */
final class SegmentCheck {
    /**
     * shmctl(2); shm_atime, shm_dtime, shm_ctime (seconds), shm_cpid, shm_lpid and shm_nattch of struct shmid64_ds
     * (asm-generic/shmbuf.h).
     */
    private static final int SHM_STAT = 13, SHM_INFO = 14, ATTACH_TIME = 56, DETACH_TIME = 64, CHANGE_TIME = 72,
            CREATOR = 80, LAST = 84, ATTACHED = 88,
            BYTES = 112;
    private static final int START = 19, TICKS = 100; // field 22 of proc_pid_stat(5), from the third on; per second
    private static final long CLOCK_SLACK = 2; // seconds: both clocks are cut to whole ones
    private static final String OWN_NAMESPACE = Files.readLink("/proc/self/ns/ipc");

    private SegmentCheck() {}

    /** On the tracer thread, when system calls can be made in the processes of one rank. */
    static void refuse(List<TracedProcess> processes) {
        processes.stream().collect(Collectors.groupingBy(process -> process.ipcNamespace, LinkedHashMap::new,
                Collectors.toList())).values().forEach(SegmentCheck::refuseIn);
    }

    /** In one IPC namespace. */
    private static void refuseIn(List<TracedProcess> processes) {
        TracedProcess root = processes.getFirst();
        boolean foreign = OWN_NAMESPACE.equals(Files.readLink("/proc/" + root.task() + "/ns/ipc"));
        Injector injector = root.main().injector;
        long results = Parasite.results(root.main().frame);
        long highest = injector.check("shmctl(SHM_INFO)", Syscall.SHMCTL, 0, SHM_INFO, results);
        if (root.memory.readLong(results) << 32 == 0) { // used_ids of struct shm_info: there is none
            return;
        }
        for (long index = 0; index <= highest; index++) {
            long id = injector.call(Syscall.SHMCTL, index, SHM_STAT, results);
            if (id < 0) {
                continue; // a slot without a segment, or another user's
            }
            MemorySegment data = Scratch.data().asSlice(0, BYTES);
            root.memory.read(results, data);
            if (data.get(JAVA_LONG, ATTACHED) != 0) {
                continue;
            }
            for (TracedProcess process : processes) {
                if (!foreign || usedBy(process, data)) {
                    throw process.refuse("System V segment " + id
                            + " has nobody attached to it, so it cannot be checkpointed; attach it (shmat(2)) or "
                            + "remove it first (ipcrm -m "
                            + id + ")");
                }
            }
        }
    }

    private static boolean usedBy(TracedProcess process, MemorySegment data) {
        if (process.namespacePid != data.get(JAVA_INT, CREATOR) && process.namespacePid != data.get(JAVA_INT, LAST)) {
            return false;
        }
        long used = Math.max(data.get(JAVA_LONG, CHANGE_TIME),
                Math.max(data.get(JAVA_LONG, ATTACH_TIME), data.get(JAVA_LONG, DETACH_TIME)));
        double age = MonotonicClock.sinceBoot() / 1e9 - (double) Long.parseLong(Proc.stat(process.pid)[START]) / TICKS;
        return used >= System.currentTimeMillis() / 1000 - (long) age - CLOCK_SLACK;
    }
}
