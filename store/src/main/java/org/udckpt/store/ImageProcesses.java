package org.udckpt.store;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.udckpt.process.model.ProcessState;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Which process of one node of a checkpoint a command line means, and what people call each: the rank that it is, or
 * below which it is. Of several nodes: {@link ProcessChoice}.
 */
public final class ImageProcesses {
    private final String checkpoint;
    private final List<ProcessState> all;
    private final Map<Integer, RankRow> rows = new HashMap<>();
    private final Map<Integer, Integer> rankOf = new HashMap<>();

    /**
     * @param checkpoint named in errors
     * @param all        the processes of the node, parents before their children
     * @param ranks      none in images that do not have the table: then the processes' states say it
     */
    public ImageProcesses(String checkpoint, List<ProcessState> all, List<RankRow> ranks) {
        this.checkpoint = checkpoint;
        this.all = all;
        ranks.forEach(row -> rows.put(row.pid(), row));
        for (ProcessState process : all) {
            RankRow row = rows.get(process.pid());
            Integer rank = ranks.isEmpty() ? Integer.valueOf(process.rank())
                    : row != null ? Integer.valueOf(row.rank()) : rankOf.get(process.parentPid());
            if (rank != null) {
                rankOf.put(process.pid(), rank);
            }
        }
    }

    /** Parents before their children. */
    public List<ProcessState> all() {
        return all;
    }

    /** The ranks that are there, ascending. */
    public List<Integer> ranks() {
        return rankOf.values().stream().distinct().sorted().toList();
    }

    /** The rank that a process is, or below which it is; empty: none, as a launcher. */
    public OptionalInt rank(ProcessState process) {
        Integer rank = rankOf.get(process.pid());
        return rank == null ? OptionalInt.empty() : OptionalInt.of(rank);
    }

    /** What the MPI launcher calls a rank; empty where it says nothing. */
    public OptionalInt mpiRank(int rank) {
        return rows.values().stream().filter(row -> row.rank() == rank && row.mpiRank() >= 0).mapToInt(RankRow::mpiRank)
                .findFirst();
    }

    /** {@code rank 3}, with what MPI calls it where that is another number. */
    public String name(int rank) {
        OptionalInt mpi = mpiRank(rank);
        return "rank " + rank + (mpi.isPresent() && mpi.getAsInt() != rank ? " (MPI rank " + mpi.getAsInt() + ")" : "");
    }

    /** {@code rank 3, process 4711 (app)}; without the rank where there is none. */
    public String name(ProcessState process) {
        OptionalInt rank = rank(process);
        return (rank.isPresent() ? "rank " + rank.getAsInt() + ", " : "") + "process " + process.pid() + " ("
                + process.name() + ")";
    }

    /** The processes of a rank, that with the verbs device first; 66 naming the ranks that are there. */
    public List<ProcessState> of(int rank) {
        List<ProcessState> found = new ArrayList<>();
        all.stream().filter(process -> isOf(process, rank) && isVerbs(process)).forEach(found::add);
        all.stream().filter(process -> isOf(process, rank) && !isVerbs(process)).forEach(found::add);
        if (found.isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND, checkpoint + " has no rank " + rank + "; there "
                    + list(ranks().stream().map(Object::toString).toList()));
        }
        return found;
    }

    private boolean isOf(ProcessState process, int rank) {
        Integer own = rankOf.get(process.pid());
        return own != null && own == rank;
    }

    /** The process to which its rank owes its number. */
    private boolean isVerbs(ProcessState process) {
        RankRow row = rows.get(process.pid());
        return row != null && row.verbs();
    }

    /** Processes that belong to no rank. */
    public List<ProcessState> others() {
        return all.stream().filter(process -> !rankOf.containsKey(process.pid())).toList();
    }

    /**
     * One process.
     *
     * @param rank null: {@code pid} says it alone
     * @param pid null: the rank's first
     * @throws Failure 66 naming those that are there
     */
    public ProcessState one(Integer rank, Integer pid) {
        List<ProcessState> candidates = rank == null ? all : of(rank);
        if (pid == null) {
            return candidates.getFirst();
        }
        return candidates.stream().filter(process -> process.pid() == pid).findFirst().orElseThrow(() -> new Failure(
                ExitCode.NOT_FOUND,
                (rank == null ? "" : "rank " + rank + " of ") + checkpoint + " has no process " + pid + "; there "
                        + list(candidates.stream().map(process -> process.pid() + " (" + process.name() + ")")
                                .toList())));
    }

    static String list(List<String> names) {
        return (names.size() == 1 ? "is " : "are ") + names.stream().collect(Collectors.joining(", "));
    }
}
