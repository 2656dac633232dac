package org.udckpt.bench.model;

/**
 * What was measured of udckpt, or is assumed of what has not been.
 *
 * @param stopBase seconds for which a rank without memory stands still
 * @param writeBase seconds that a write takes however little is written
 * @param agent seconds that ranks lose to the agent at each checkpoint, besides the stop and while memory is written,
 *     where they poll on all processors
 * @param stopPerByte seconds more for each byte of a rank: page tables are copied by the fork, each processor copies
 *     those of its ranks
 * @param levelTime seconds for a message to all nodes below one node of the tree, and their answers
 * @param fanOut nodes below a node of the tree
 * @param rounds times that the coordinator waits for all nodes while the job stands still
 * @param slowDown the part of its speed that a job loses while its image is written
 * @param relaunch seconds from a failure until processes are started again
 */
public record Costs(double stopBase, double stopPerByte, double writeBase, double agent, double levelTime, int fanOut,
        int rounds, double slowDown, double relaunch) {
    /** As docs/operator/capacity.md says where they are from; what the command line has without flags. */
    public static final Costs USUAL = new Costs(45e-3, 23e-3 / (1L << 30), 0.1, 0.5, 1.3e-3, 16, 6, 0.1, 60);

    public Costs {
        if (!(stopBase >= 0) || !(stopPerByte >= 0) || !(writeBase >= 0) || !(agent >= 0) || !(levelTime >= 0)
                || fanOut < 2 || rounds < 1 || !(slowDown >= 0 && slowDown < 1) || !(relaunch >= 0)) {
            throw new IllegalArgumentException(
                    "costs are not negative, a tree branches, and a job is not slowed down to nothing");
        }
    }

    /** Levels of the tree below its root that reach so many nodes. */
    public int levels(long nodes) {
        int levels = 0;
        for (long reached = 1, level = 1; reached < nodes; levels++) {
            level *= fanOut;
            reached += level;
        }
        return levels;
    }

    /** Seconds in which nodes agree while the job stands still. */
    public double coordination(long nodes) {
        return rounds * levels(nodes) * levelTime;
    }

    /** Seconds for which the job stands still. */
    public double stop(ModelWorkload job) {
        return stopBase + stopPerByte * job.rankBytes() + coordination(job.nodes());
    }
}
