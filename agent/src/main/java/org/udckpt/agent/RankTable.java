package org.udckpt.agent;

import static org.udckpt.linux.LinuxConstants.SIGKILL;
import static org.udckpt.linux.LinuxConstants.SIGPIPE;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.udckpt.address.RankSpan;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Messages;

/**
 * The root processes of an agent's ranks, and what the end of each means for the job; the rules are those of MPICH's
 * mpiexec: exit codes are or'ed; a rank that dies by a signal, aborts, or leaves between MPI_Init and MPI_Finalize
 * takes the others with it, also those of other agents.
 */
public final class RankTable {
    /** A rank's root process, pid as the agent sees it. */
    public record Rank(int rank, int hostPid, boolean alive) {}

    private final RankSpan span;
    private final int[] hostPids; // by place in the span, as all that follow
    private final boolean[] ended;
    private final Map<Integer, Integer> early = new HashMap<>();
    /** Ranks that are not known to run yet, and whose PMI connection has closed. */
    private final Set<Integer> lostEarly = new HashSet<>();
    private final CountDownLatch left;
    private final Runnable killAll;
    private final EndListener listener;
    private boolean ending;
    // the rank whose PMI connection closed too early; its exit status may come after that, and counts
    private int lost = -1;
    private boolean aborted; // the code is decided, whatever the ranks exit with
    private int code;

    /**
     * @param killAll  sends SIGKILL to every rank of the agent; called at most once
     * @param listener hears it before, if it is the ranks' doing
     */
    public RankTable(RankSpan span, Runnable killAll, EndListener listener) {
        this.span = span;
        this.hostPids = new int[span.count()];
        this.ended = new boolean[span.count()];
        this.left = new CountDownLatch(span.count());
        this.killAll = killAll;
        this.listener = listener;
    }

    /** A rank runs; if its exit was reported already, that counts now. */
    public void started(int rank, int hostPid) {
        Integer status;
        boolean late;
        boolean lostBefore;
        synchronized (this) {
            hostPids[span.index(rank)] = hostPid;
            status = early.remove(hostPid);
            lostBefore = lostEarly.remove(rank);
            late = ending;
        }
        if (lostBefore) {
            lost(rank);
        }
        if (status != null) {
            exited(hostPid, status);
        } else if (late) {
            killAll.run(); // it was not there when the others were ended
        }
    }

    /** Whether each has been there. */
    public synchronized boolean allStarted() {
        for (int hostPid : hostPids) {
            if (hostPid == 0) {
                return false;
            }
        }
        return true;
    }

    public synchronized List<Rank> ranks() {
        List<Rank> ranks = new ArrayList<>();
        for (int place = 0; place < hostPids.length; place++) {
            ranks.add(new Rank(span.first() + place, hostPids[place], hostPids[place] != 0 && !ended[place]));
        }
        return ranks;
    }

    public int size() {
        return hostPids.length;
    }

    public synchronized boolean allAlive() {
        for (int place = 0; place < hostPids.length; place++) {
            if (hostPids[place] == 0 || ended[place]) {
                return false;
            }
        }
        return true;
    }

    private OptionalInt placeOf(int hostPid) {
        for (int place = 0; place < hostPids.length; place++) {
            if (hostPids[place] == hostPid) {
                return OptionalInt.of(place);
            }
        }
        return OptionalInt.empty();
    }

    /** A root process ended. */
    public void exited(int hostPid, int status) {
        boolean fatal;
        int rank;
        int signal = status & 0x7f;
        synchronized (this) {
            OptionalInt found = placeOf(hostPid);
            if (found.isEmpty()) {
                early.put(hostPid, status); // faster than the answer to spawn
                return;
            }
            if (ended[found.getAsInt()]) {
                return;
            }
            ended[found.getAsInt()] = true;
            rank = span.first() + found.getAsInt();
            fatal = signal != 0 && !ending;
            if (fatal || signal != 0 && rank == lost && !aborted) {
                code = deathCode(signal, status);
                if (!fatal || span.isAll()) {
                    sayDeath(rank, hostPid, signal);
                } // else the listener tells the user, for all agents
            } else if (signal == 0 && !aborted) {
                code |= status >> 8 & 0xff;
            }
        }
        if (fatal && !endAll(OptionalInt.of(deathCode(signal, status)), death(rank, hostPid, signal))
                && !span.isAll()) {
            sayDeath(rank, hostPid, signal); // its connection was faster, and that is what the listener was told
        }
        left.countDown();
    }

    private void sayDeath(int rank, int hostPid, int signal) {
        Messages.error(death(rank, hostPid, signal) + (span.total() > 1 ? "; ending the other ranks" : ""), null);
    }

    private static String death(int rank, int hostPid, int signal) {
        return "rank " + rank + " (process " + hostPid + ") was ended by signal " + signal + " ("
                + SignalForwarding.name(signal) + ")";
    }

    /**
     * As mpiexec: the signal's number, with 128 added for a core dump. Where it is our output that nobody reads,
     * mpiexec dies of SIGPIPE itself, since it writes what its ranks print, and shells make 141 of that.
     */
    private static int deathCode(int signal, int status) {
        return signal == SIGPIPE && StandardStreams.readerGone() ? 128 + signal : status & 0xff;
    }

    /** MPI_Abort. */
    public void abort(int rank, int exitCode) {
        synchronized (this) {
            if (!ending) {
                code = exitCode & 0xff;
                aborted = true;
            }
        }
        endAll(OptionalInt.of(exitCode & 0xff), "rank " + rank + " aborted the job with code " + exitCode);
    }

    /**
     * The rank's PMI connection closed without MPI_Finalize; its exit status follows. Of a rank that is only being
     * started, or restored, it counts when it has been: a restart that fails ends it, and says why itself.
     */
    public void lost(int rank) {
        boolean first;
        synchronized (this) {
            if (hostPids[span.index(rank)] == 0) {
                lostEarly.add(rank);
                return;
            }
            first = !ending;
            if (first) {
                lost = rank;
            }
        }
        if (first) {
            String why = "rank " + rank + " left without MPI_Finalize";
            if (span.isAll()) {
                Messages.error(why + "; ending the other ranks", null);
            }
            endAll(OptionalInt.empty(), why);
        }
    }

    /**
     * Ends the job with a code of udckpt's choice, for instance 0 after a last checkpoint.
     *
     * @param why null: those who decided it know
     */
    public void end(int exitCode, String why) {
        synchronized (this) {
            code = exitCode;
            aborted = true;
        }
        endAll(OptionalInt.of(exitCode), why);
    }

    /** The job ends because of another agent's ranks; the code is what this agent's have come to. */
    public void endElsewhere() {
        endAll(OptionalInt.empty(), null);
    }

    /** No more exits will be reported: kills the ranks directly. */
    public void shepherdLost() {
        String why = "the shepherd, parent of " + (span.isAll() ? "the ranks" : span) + ", is gone (killed?)";
        Messages.error(why + "; ending the job", null);
        end(ExitCode.INTERNAL.value(), why);
        for (Rank rank : ranks()) {
            if (rank.alive()) {
                ProcessHandle.of(rank.hostPid()).ifPresent(ProcessHandle::destroyForcibly);
                exited(rank.hostPid(), SIGKILL);
            }
        }
    }

    /** The job is being closed down by its agent: what the ranks do now is no news. */
    public synchronized void closing() {
        ending = true;
    }

    /** False: it is ended already. @param why null: the listener is not told */
    private boolean endAll(OptionalInt decided, String why) {
        synchronized (this) {
            if (ending) {
                return false;
            }
            ending = true;
        }
        if (why != null) {
            listener.ends(decided, why);
        }
        killAll.run();
        return true;
    }

    public synchronized boolean ending() {
        return ending;
    }

    /** Waits for the agent's last rank; returns the job's exit code, as far as its ranks know it. */
    public int await() throws InterruptedException {
        left.await();
        synchronized (this) {
            return code;
        }
    }

    /** Returns whether all ranks ended in time. */
    public boolean await(long seconds) throws InterruptedException {
        return left.await(seconds, TimeUnit.SECONDS);
    }
}
