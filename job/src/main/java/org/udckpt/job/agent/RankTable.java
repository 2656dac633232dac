package org.udckpt.job.agent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Messages;

/**
 * The ranks' root processes, and what the end of each means for the job; the rules are those of MPICH's mpiexec: exit codes
 * are or'ed; a rank that dies by a signal, aborts, or leaves between MPI_Init and MPI_Finalize takes the others with it.
 */
public final class RankTable {
    /** A rank's root process, pid as the agent sees it. */
    public record Rank(int rank, int hostPid, boolean alive) {}

    private final int[] hostPids;
    private final boolean[] ended;
    private final Map<Integer, Integer> early = new HashMap<>();
    private final CountDownLatch left;
    private final Runnable killAll;
    private boolean ending;
    private int lost = -1; // the rank whose PMI connection closed too early; its exit status may come after that, and counts
    private boolean aborted; // the code is decided, whatever the ranks exit with
    private int code;

    /** @param killAll sends SIGKILL to every rank; called at most once */
    public RankTable(int ranks, Runnable killAll) {
        this.hostPids = new int[ranks];
        this.ended = new boolean[ranks];
        this.left = new CountDownLatch(ranks);
        this.killAll = killAll;
    }

    /** A rank runs; if its exit was reported already, that counts now. */
    public void started(int rank, int hostPid) {
        Integer status;
        synchronized (this) {
            hostPids[rank] = hostPid;
            status = early.remove(hostPid);
        }
        if (status != null) {
            exited(hostPid, status);
        }
    }

    public synchronized List<Rank> ranks() {
        List<Rank> ranks = new ArrayList<>();
        for (int rank = 0; rank < hostPids.length; rank++) {
            ranks.add(new Rank(rank, hostPids[rank], hostPids[rank] != 0 && !ended[rank]));
        }
        return ranks;
    }

    public int size() {
        return hostPids.length;
    }

    public synchronized boolean allAlive() {
        for (int rank = 0; rank < hostPids.length; rank++) {
            if (hostPids[rank] == 0 || ended[rank]) {
                return false;
            }
        }
        return true;
    }

    private OptionalInt rankOf(int hostPid) {
        for (int rank = 0; rank < hostPids.length; rank++) {
            if (hostPids[rank] == hostPid) {
                return OptionalInt.of(rank);
            }
        }
        return OptionalInt.empty();
    }

    /** A root process ended. */
    public void exited(int hostPid, int status) {
        boolean fatal;
        synchronized (this) {
            OptionalInt found = rankOf(hostPid);
            if (found.isEmpty()) {
                early.put(hostPid, status); // faster than the answer to spawn
                return;
            }
            if (ended[found.getAsInt()]) {
                return;
            }
            int rank = found.getAsInt();
            ended[rank] = true;
            int signal = status & 0x7f;
            fatal = signal != 0 && !ending;
            if (fatal || signal != 0 && rank == lost && !aborted) {
                code = deathCode(signal, status);
                Messages.error("rank " + rank + " (process " + hostPid + ") was ended by signal " + signal + " (" + Signals.name(signal) + ")"
                        + (hostPids.length > 1 ? "; ending the other ranks" : ""), null);
            } else if (signal == 0 && !aborted) {
                code |= status >> 8 & 0xff;
            }
        }
        if (fatal) {
            endAll();
        }
        left.countDown();
    }

    /**
     * As mpiexec: the signal's number, with 128 added for a core dump. Where it is our output that nobody reads, mpiexec
     * dies of SIGPIPE itself, since it writes what its ranks print, and shells make 141 of that.
     */
    private static int deathCode(int signal, int status) {
        return signal == Signals.SIGPIPE && StandardStreams.readerGone() ? 128 + signal : status & 0xff;
    }

    /** MPI_Abort. */
    public void abort(int rank, int exitCode) {
        synchronized (this) {
            if (!ending) {
                code = exitCode & 0xff;
                aborted = true;
            }
        }
        endAll();
    }

    /** The rank's PMI connection closed without MPI_Finalize; its exit status follows. */
    public void lost(int rank) {
        boolean first;
        synchronized (this) {
            first = !ending;
            if (first) {
                lost = rank;
            }
        }
        if (first) {
            Messages.error("rank " + rank + " left without MPI_Finalize; ending the other ranks", null);
            endAll();
        }
    }

    /** Ends the job with a code of udckpt's choice, for instance 0 after a last checkpoint. */
    public void end(int exitCode) {
        synchronized (this) {
            code = exitCode;
            aborted = true;
        }
        endAll();
    }

    /** Nobody will report exits any more: kills the ranks directly. */
    public void shepherdLost() {
        Messages.error("the shepherd, parent of the ranks, is gone (killed?); ending the job", null);
        end(ExitCode.INTERNAL.value());
        for (Rank rank : ranks()) {
            if (rank.alive()) {
                ProcessHandle.of(rank.hostPid()).ifPresent(ProcessHandle::destroyForcibly);
                exited(rank.hostPid(), Signals.SIGKILL);
            }
        }
    }

    /** The job is being closed down by its agent: what the ranks do now is no news. */
    public synchronized void closing() {
        ending = true;
    }

    private void endAll() {
        synchronized (this) {
            if (ending) {
                return;
            }
            ending = true;
        }
        killAll.run();
    }

    public synchronized boolean ending() {
        return ending;
    }

    /** Waits for the last rank; returns the job's exit code. */
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
