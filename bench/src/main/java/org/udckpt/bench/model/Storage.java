package org.udckpt.bench.model;

/**
 * Where images go: each node at its own rate, all together at no more than the file system's.
 *
 * @param nodeRate  bytes a second that one node can write: of its own device, or of its way to a shared one
 * @param totalRate bytes a second of all; infinite where each node has a device of its own
 */
public record Storage(double nodeRate, double totalRate) {
    public Storage {
        if (!(nodeRate > 0) || !(totalRate > 0)) {
            throw new IllegalArgumentException("storage has rates above 0");
        }
    }

    /** Bytes a second that so many nodes write together. */
    public double rate(long nodes) {
        return Math.min(nodes * nodeRate, totalRate);
    }

    /** In seconds. */
    public double time(ModelWorkload job) {
        return job.imageBytes() / rate(job.nodes());
    }
}
