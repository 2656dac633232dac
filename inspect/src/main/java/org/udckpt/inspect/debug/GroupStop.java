package org.udckpt.inspect.debug;

import static org.udckpt.linux.LinuxConstants.SIGCONT;
import static org.udckpt.linux.LinuxConstants.SIGSTOP;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;
import org.udckpt.support.report.Messages;

/**
 * While a debugger keeps one of its processes standing, the rest of the job stands too (SIGSTOP): for who goes on
 * computing takes a peer that does not answer for dead, UCX after 30 seconds. When that process goes on, so do the
 * others (SIGCONT).
 */
final class GroupStop {
    private static final long LOOK_MS = 50;
    /** A breakpoint whose commands let the process go on is no standstill. */
    private static final int LOOKS = 10;

    private final List<Debuggee> debuggees;
    private final Set<Integer> known;
    private final Supplier<Boolean> debugged;
    private final Consumer<Boolean> shepherd;
    private final long[] last;
    private final List<Integer> stopped = new ArrayList<>();
    private int still;

    /**
     * @param debuggees   whom the debugger has
     * @param known       all processes of the job, by their pids here; what they start belongs to it
     * @param debugged    whether the debugger lives
     * @param shepherd    is told when others stand: it lets them go on, should this process end
     */
    GroupStop(List<Debuggee> debuggees, Set<Integer> known, Supplier<Boolean> debugged, Consumer<Boolean> shepherd) {
        this.debuggees = debuggees;
        this.known = known;
        this.debugged = debugged;
        this.shepherd = shepherd;
        this.last = new long[debuggees.size()];
    }

    /** Until the debugger has ended. */
    void watch() {
        try {
            while (debugged.get()) {
                look();
                Thread.sleep(LOOK_MS);
            }
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        } finally {
            goOn();
        }
    }

    private void look() {
        boolean one = false;
        for (int i = 0; i < last.length; i++) {
            long ran = debuggees.get(i).ran();
            one |= ran >= 0 && ran == last[i];
            last[i] = ran;
        }
        still = one ? still + 1 : 0;
        if (!one) {
            goOn();
        } else if (still == LOOKS) {
            stand();
        }
    }

    private void stand() {
        shepherd.accept(true);
        Set<Integer> own = new HashSet<>();
        debuggees.forEach(debuggee -> own.add(debuggee.hostPid()));
        Set<Integer> seen = new HashSet<>();
        for (int pid : known) {
            stand(pid, own, seen);
        }
    }

    /** Parents first: they make no more children then. */
    private void stand(int pid, Set<Integer> own, Set<Integer> seen) {
        if (!seen.add(pid)) {
            return;
        }
        try {
            if (!own.contains(pid) && !"TZX".contains(Proc.stat(pid)[0]) && signal(pid, SIGSTOP)) {
                stopped.add(pid);
            }
            for (int child : Proc.children(pid)) {
                stand(child, own, seen);
            }
        } catch (LinuxError ended) {
            Messages.debugTrace("process " + pid + " ended while the job was brought to stand", ended);
        }
    }

    private void goOn() {
        if (!stopped.isEmpty()) {
            try {
                stopped.forEach(GroupStop::letGo);
            } finally {
                stopped.clear();
                shepherd.accept(false);
            }
        }
    }

    /** Continues a process. A failure is ignored: it must not keep the other processes stopped. */
    private static void letGo(int pid) {
        try {
            signal(pid, SIGCONT);
        } catch (LinuxError e) {
            Syscall.call(Syscall.KILL, pid, SIGCONT); // without a descriptor: there may be none left
            Messages.debugTrace("process " + pid + " was let go on by its number", e);
        }
    }

    /** False: it has ended. */
    private static boolean signal(int pid, int number) {
        try (ProcessHandleFd process = new ProcessHandleFd(pid)) {
            return process.signal(number);
        } catch (LinuxError gone) {
            if (gone.errno() == LinuxError.ESRCH) {
                return false;
            }
            throw gone;
        }
    }
}
