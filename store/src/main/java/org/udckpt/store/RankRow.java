package org.udckpt.store;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.address.RankSpan;
import org.udckpt.launch.LaunchMode;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.ProcessState;
import org.udckpt.ud.RankNumbers;

/**
 * Rows of the table {@code ranks}: which processes of a node are ranks. Their children belong to them, unless they have
 * rows of their own; who is below nobody with a row belongs to no rank (a launcher, its daemons). Images that were made
 * before this table was have none: there the {@code rank} of each process says it.
 *
 * @param rank its number, the same over all incarnations of the job
 * @param mpiRank what its MPI launcher calls it; -1: nothing
 * @param verbs it has opened a verbs device; else it is what {@code run} started, and a process below it may have the
 *     same number
 */
public record RankRow(int pid, int rank, int mpiRank, boolean verbs) {
    static final String TABLE = "ranks";
    private static final int NONE = -1;

    /** @param numbered the processes with a device */
    public static List<RankRow> of(LaunchMode launch, List<ProcessState> processes, List<RankNumbers.Rank> numbered) {
        Map<Integer, RankNumbers.Rank> byPid = new HashMap<>();
        numbered.forEach(rank -> byPid.put(rank.pid(), rank));
        boolean rootsAreRanks =
                launch == LaunchMode.RANKS || processes.stream().noneMatch(process -> byPid.containsKey(process.pid()));
        List<RankRow> rows = new ArrayList<>();
        for (ProcessState process : processes) {
            RankNumbers.Rank rank = byPid.get(process.pid());
            if (rank != null) {
                rows.add(new RankRow(process.pid(), rank.number(), rank.mpiRank(), true));
            } else if (rootsAreRanks && process.parentPid() == 0) {
                rows.add(new RankRow(process.pid(), process.rank(), NONE, false));
            }
        }
        return rows;
    }

    /** How many ranks they are. */
    public static int count(List<RankRow> rows) {
        return (int) rows.stream().mapToInt(RankRow::rank).distinct().count();
    }

    /** The ranks that have a device. */
    public static List<RankNumbers.Rank> numbered(List<RankRow> rows) {
        return rows.stream().filter(RankRow::verbs).map(row -> new RankNumbers.Rank(row.rank, row.pid, row.mpiRank))
                .toList();
    }

    /** @param span what their node has of the job's ranks. @throws BrokenTable for what {@link #of} does not make */
    static void check(List<RankRow> rows, List<ProcessState> processes, RankSpan span) throws BrokenTable {
        Set<Integer> pids = new HashSet<>();
        for (int i = 0; i < processes.size(); i++) {
            pids.add(processes.get(i).pid());
            if (processes.get(i).parentPid() == 0 && !span.has(processes.get(i).rank())) {
                throw new BrokenTable(ImageTables.PROCESSES, i,
                        "rank " + processes.get(i).rank() + otherNode(span));
            }
        }
        Set<Integer> seen = new HashSet<>();
        Set<Integer> verbs = new HashSet<>();
        for (int i = 0; i < rows.size(); i++) {
            RankRow row = rows.get(i);
            String wrong = !pids.contains(row.pid) ? "pid " + row.pid + " is not a process of this node"
                    : !seen.add(row.pid) ? "duplicate pid " + row.pid
                            : !span.owns(row.rank) ? "rank " + row.rank + otherNode(span)
                                    : row.mpiRank < NONE ? "mpiRank " + row.mpiRank + " is below " + NONE
                                            : row.verbs && !verbs.add(row.rank)
                                                    ? "rank " + row.rank + " has two processes with a verbs device"
                                                    : null;
            if (wrong != null) {
                throw new BrokenTable(TABLE, i, wrong);
            }
        }
    }

    private static String otherNode(RankSpan span) {
        return " is not on this node, which has " + span;
    }
}
