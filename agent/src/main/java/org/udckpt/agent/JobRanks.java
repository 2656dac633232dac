package org.udckpt.agent;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.udckpt.launch.LaunchMode;
import org.udckpt.ud.RankNumbers;

/**
 * What a running job's ranks are: the processes that {@code run -n} started, and those that have opened a verbs device,
 * each by its number ({@link RankNumbers}). A tree in which nobody has opened one yet has one rank, the program itself.
 *
 * @param all ascending
 * @param processes all of the job, parents before their children
 */
public record JobRanks(List<Rank> all, List<JobProcess> processes) {
    /**
     * @param hostPid of the process, as the agent numbers it
     * @param mpiRank what its MPI launcher calls it; -1: nothing
     * @param root    the rank of {@code run -n} below which it is; 0 in a tree
     * @param alive   whether it runs
     */
    public record Rank(int number, int hostPid, int mpiRank, int root, boolean alive) {}

    static JobRanks of(LaunchMode launch, List<RankTable.Rank> roots, List<RankNumbers.Rank> numbered) {
        List<JobProcess> processes =
                JobProcesses.below(roots.stream().filter(RankTable.Rank::alive).map(RankTable.Rank::hostPid).toList());
        Map<Integer, JobProcess> byPid = new HashMap<>();
        processes.forEach(process -> byPid.put(process.pid(), process));
        Map<Integer, Integer> rootOf = new HashMap<>();
        roots.forEach(root -> rootOf.put(root.hostPid(), root.rank()));
        TreeMap<Integer, Rank> ranks = new TreeMap<>();
        for (RankNumbers.Rank rank : numbered) {
            JobProcess process = byPid.get(rank.pid());
            if (process != null) { // else it has ended a moment ago
                ranks.put(rank.number(),
                        new Rank(rank.number(), process.hostPid(), rank.mpiRank(), rootOf.get(process.root()), true));
            }
        }
        if (launch == LaunchMode.RANKS || ranks.isEmpty()) {
            roots.forEach(root -> ranks.putIfAbsent(root.rank(),
                    new Rank(root.rank(), root.hostPid(), -1, root.rank(), root.alive())));
        }
        return new JobRanks(List.copyOf(ranks.values()), processes);
    }

    /**
     * The rank to which each process belongs, by its pid as the agent numbers it: its own, or that of its nearest
     * ancestor which has one.
     */
    public Map<Integer, OptionalInt> byProcess() {
        Map<Integer, Integer> own = new HashMap<>();
        all.forEach(rank -> own.put(rank.hostPid(), rank.number()));
        Map<Integer, OptionalInt> belongs = new HashMap<>();
        for (JobProcess process : processes) {
            Integer number = own.get(process.hostPid());
            belongs.put(process.hostPid(), number != null ? OptionalInt.of(number)
                    : belongs.getOrDefault(process.parent(), OptionalInt.empty()));
        }
        return belongs;
    }
}
