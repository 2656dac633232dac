package org.udckpt.lifecycle.restart;

import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/**
 * Which of a restored job's processes have ended meanwhile, whoever has yet to hear of that.
 *
 * @param hostPids number in the job -> number on this host
 */
record LivingProcesses(Map<Integer, Integer> hostPids) {
    private static final long SOON_NS = 2_000_000_000L;

    /** @param pid in the job */
    boolean hasEnded(int pid) {
        Integer host = hostPids.get(pid);
        if (host == null) {
            return false;
        }
        try {
            String state = Proc.stat(host)[0];
            return (state.equals("Z") || state.equals("X")) && Proc.living(host) == host;
        } catch (LinuxError gone) {
            if (gone.errno() != LinuxError.ENOENT && gone.errno() != LinuxError.ESRCH) {
                throw gone;
            }
            return true;
        }
    }

    /** The same of one whose connections are closed, which comes a moment before its end. */
    boolean ends(int pid) {
        long deadline = System.nanoTime() + SOON_NS;
        while (!hasEnded(pid)) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            LockSupport.parkNanos(100_000);
        }
        return true;
    }
}
