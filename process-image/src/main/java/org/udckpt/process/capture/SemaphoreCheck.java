package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * Refuses a job that uses System V semaphores: they belong to no process, and a restart would not have them. In an ipc
 * namespace of the job's own (a restarted one) every set is the job's; in the agent's, those that a process of the job
 * was the last to operate on (semctl(2), GETPID).
 */
final class SemaphoreCheck {
    private static final int SEMCTL = 66, GETPID = 11, SEM_INFO = 19, SEM_STAT_ANY = 20;
    /** semusz of struct seminfo: sets that exist; sem_nsems of struct semid64_ds. */
    private static final int SETS = 28, COUNT = 80;
    private static final String OWN_NAMESPACE = Files.readLink("/proc/self/ns/ipc");

    private SemaphoreCheck() {}

    /** On the tracer thread, when system calls can be made in the processes of one rank. */
    static void refuse(List<TracedProcess> processes) {
        TracedProcess root = processes.getFirst();
        if (OWN_NAMESPACE.equals(Files.readLink("/proc/" + root.pid + "/ns/ipc"))) {
            refuseShared(processes);
        } else {
            long results = Parasite.results(root.main().frame);
            root.main().injector.check("semctl(SEM_INFO)", SEMCTL, 0, 0, SEM_INFO, results);
            if (root.memory.readLong(results + SETS) << 32 != 0) { // the upper half is another field
                throw refusal(root, "");
            }
        }
    }

    private static void refuseShared(List<TracedProcess> processes) {
        MemorySegment data = Scratch.data();
        long highest = LinuxError.check(Syscall.call(SEMCTL, 0, 0, SEM_INFO, data.address()), "semctl(SEM_INFO)");
        int sets = data.get(JAVA_INT, SETS);
        for (int index = 0; sets > 0 && index <= highest; index++) {
            long id = Syscall.call(SEMCTL, index, 0, SEM_STAT_ANY, data.address());
            if (id < 0) {
                continue; // a slot without a set
            }
            sets--;
            long semaphores = data.get(JAVA_LONG, COUNT);
            for (int number = 0; number < semaphores; number++) {
                long pid = Syscall.call(SEMCTL, id, number, GETPID);
                if (pid < 0) {
                    break; // may not be read, so it is another user's; or it was removed just now
                }
                for (TracedProcess process : processes) {
                    if (process.pid == pid) {
                        throw refusal(process, " " + id);
                    }
                }
            }
        }
    }

    private static CaptureRefused refusal(TracedProcess process, String which) {
        return process.refuse("System V semaphore set" + which
                + " is in use, which cannot be checkpointed; remove it first (ipcrm -s), or use POSIX semaphores in "
                + "shared memory");
    }
}
