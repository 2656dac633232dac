package org.udckpt.bench.model;

import org.udckpt.lifecycle.interval.OptimalInterval;

/**
 * What checkpoints do to a job. Failures come as a Poisson process, also during a checkpoint and a restart.
 *
 * @param stop       seconds for which the job stands still
 * @param write      seconds from then until the image is complete
 * @param drain      seconds from then until its copy on slower storage is; 0 without slower storage
 * @param coordination seconds of the stop in which nodes agree
 * @param mtbf       mean seconds between failures of the whole job
 * @param cost       seconds that a checkpoint costs the job
 * @param interval   seconds that the job computes from one checkpoint to the next
 * @param efficiency part of the time that is useful
 */
public record Prediction(double stop, double write, double drain, double coordination, double mtbf, double cost,
        double interval, double efficiency) {
    /**
     * Of udckpt: the image is written while the job runs.
     *
     * @param slow where images are copied to from {@code storage}, and restarted from: a failed node takes its own
     *     devices with it; null: {@code storage} outlives nodes
     */
    public static Prediction of(ModelWorkload job, Storage storage, Storage slow, Costs costs, double mtbf) {
        double write = costs.writeBase() + storage.time(job);
        double stop = costs.stop(job);
        return of(job, stop, write, stop + costs.agent() + costs.slowDown() * write, slow, costs, mtbf);
    }

    /** The prediction for a checkpointer that writes while the job stands still, on the same storage. */
    public static Prediction blocking(ModelWorkload job, Storage storage, Storage slow, Costs costs, double mtbf) {
        double write = costs.writeBase() + storage.time(job);
        double stop = costs.stop(job) + write;
        return of(job, stop, 0, stop, slow, costs, mtbf);
    }

    private static Prediction of(ModelWorkload job, double stop, double write, double cost, Storage slow, Costs costs,
            double mtbf) {
        double drain = slow == null ? 0 : slow.time(job);
        double interval = Math.max(OptimalInterval.daly(cost, mtbf), Math.max(write, drain)); // one at a time
        double read = slow == null ? Math.max(write, stop - costs.stop(job)) : drain; // as fast as it was written
        double efficiency = efficiency(interval, cost, stop + write + drain, costs.relaunch() + read, mtbf);
        return new Prediction(stop, write, drain, costs.coordination(job.nodes()), mtbf, cost, interval, efficiency);
    }

    /**
     * N. H. Vaidya, IEEE Trans. Computers 46 (1997) 942-947: a span of {@code interval} seconds of work takes
     * M exp((L - C + R)/M) (exp((T + C)/M) - 1) on the average.
     *
     * @param latency seconds until a checkpoint can be restarted from
     */
    static double efficiency(double interval, double cost, double latency, double restart, double mtbf) {
        double span = mtbf * Math.exp((latency - cost + restart) / mtbf) * Math.expm1((interval + cost) / mtbf);
        return Double.isFinite(span) ? interval / span : 0;
    }
}
