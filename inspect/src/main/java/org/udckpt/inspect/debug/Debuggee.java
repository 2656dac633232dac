package org.udckpt.inspect.debug;

import static org.udckpt.linux.LinuxConstants.SIGKILL;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.model.ProcessState;

/**
 * A restored process that a debugger has, or is to have.
 *
 * @param state as the image has it
 * @param called what messages call it
 * @param hostPid its pid here
 */
record Debuggee(ProcessState state, String called, int hostPid) {
    /**
     * The kernel counts each time a thread leaves a processor: while all of them are stopped the sum stays as it is
     * (proc_pid_status(5)).
     */
    private static final String[] SWITCHES = {"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"};
    private static final String TRACED = "t";
    /** Where Proc.stat has how it ended, as wait(2) tells it (proc_pid_stat(5)): from when it is killed. */
    private static final int END = 49;

    /**
     * Context switches of all its threads, since they were made; -1: one of them runs at this moment, or the process
     * has ended.
     */
    long ran() {
        try {
            long sum = 0;
            int[] threads = Proc.threads(hostPid);
            for (int tid : threads) {
                String status = Proc.text("/proc/" + hostPid + "/task/" + tid + "/status");
                if (!Proc.field(status, "State:").startsWith(TRACED)) {
                    return -1;
                }
                for (String switches : SWITCHES) {
                    sum += Long.parseLong(Proc.field(status, switches));
                }
            }
            return threads.length == 0 ? -1 : sum;
        } catch (LinuxError gone) {
            return -1;
        }
    }

    /**
     * Whether it was killed (SIGKILL), be it that it has had no processor since to notice that. Not one that ended by
     * itself, unless it has been waited for meanwhile, when nothing tells any more.
     */
    boolean killed() {
        try {
            return Proc.stat(hostPid)[END].equals(Integer.toString(SIGKILL));
        } catch (LinuxError gone) {
            return true;
        }
    }

    /** As messages name it. */
    String name() {
        return called + ", here " + hostPid;
    }
}
