package org.udckpt.cluster.status;

import org.udckpt.address.CountersFile.Counters;

/**
 * A rank of a unit, as its agent has it.
 *
 * @param number    the job's; one of the unit's ({@link org.udckpt.address.RankSpan#owns})
 * @param mpiRank   what its MPI launcher calls it; -1: nothing
 * @param pid       as the agent numbers it
 * @param alive     whether it runs
 * @param endpoints how many it has; not all of many are told
 * @param counters  of this incarnation
 */
public record RankStatusRow(int number, int mpiRank, int pid, boolean alive, int endpoints, Counters counters) {
    public RankStatusRow {
        if (mpiRank < -1 || pid < 0 || endpoints < 0) {
            throw new IllegalArgumentException("rank " + number + " of pid " + pid + ", MPI rank " + mpiRank + ", with "
                    + endpoints + " endpoints");
        }
    }
}
