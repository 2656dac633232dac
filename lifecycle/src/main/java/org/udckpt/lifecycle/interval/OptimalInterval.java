package org.udckpt.lifecycle.interval;

/**
 * The time between checkpoints that loses least, by the cost C of one and the mean time M between failures, which are
 * taken to come as a Poisson process. All in the same unit of time.
 */
public final class OptimalInterval {
    private OptimalInterval() {}

    /** First order: J. W. Young, CACM 17 (1974) 530-531. */
    public static double young(double cost, double mtbf) {
        return Math.sqrt(2 * cost * mtbf);
    }

    /**
     * Higher order: J. T. Daly, FGCS 22 (2006) 303-312. The time that the job computes between two checkpoints, without
     * their cost.
     */
    public static double daly(double cost, double mtbf) {
        if (cost >= 2 * mtbf) {
            return mtbf;
        }
        double ratio = cost / (2 * mtbf);
        return young(cost, mtbf) * (1 + Math.sqrt(ratio) / 3 + ratio / 9) - cost;
    }
}
