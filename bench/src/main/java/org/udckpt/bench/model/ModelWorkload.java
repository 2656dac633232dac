package org.udckpt.bench.model;

/**
 * A job.
 *
 * @param ranks of MPI
 * @param ranksPerNode at most
 * @param rankBytes memory of a rank, in bytes
 * @param stored the part of it that an image holds: less than 1 with zero pages, compression or changed pages only
 */
public record ModelWorkload(long ranks, int ranksPerNode, double rankBytes, double stored) {
    public ModelWorkload {
        if (ranks < 1 || ranksPerNode < 1 || !(rankBytes > 0) || !(stored > 0 && stored <= 1)) {
            throw new IllegalArgumentException("a job needs ranks, memory, and a stored part above 0 and up to 1");
        }
    }

    public long nodes() {
        return (ranks + ranksPerNode - 1) / ranksPerNode;
    }

    /** Bytes of all ranks' memory. */
    public double bytes() {
        return ranks * rankBytes;
    }

    /** Bytes of one image. */
    public double imageBytes() {
        return bytes() * stored;
    }

    /** The same job with other ranks: each keeps its memory. */
    public ModelWorkload withRanks(long others) {
        return new ModelWorkload(others, ranksPerNode, rankBytes, stored);
    }
}
