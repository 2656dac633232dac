package org.udckpt.image.write;

import java.time.Instant;
import java.util.Map;

/**
 * What only the job knows about a checkpoint.
 *
 * @param ranks        MPI ranks in it
 * @param takenAt      when they were stopped
 * @param architecture of their processes, as {@code uname -m} names it
 * @param labels       free texts to find again in the manifest
 */
public record CheckpointInfo(int ranks, Instant takenAt, String architecture, Map<String, String> labels) {
    public CheckpointInfo {
        labels = Map.copyOf(labels);
        if (ranks < 0) {
            throw new IllegalArgumentException("ranks " + ranks);
        }
    }

    /** Info about a job on this machine. */
    public static CheckpointInfo now(int ranks, Map<String, String> labels) {
        String architecture = System.getProperty("os.arch");
        return new CheckpointInfo(ranks, Instant.now(), architecture.equals("amd64") ? "x86_64" : architecture, labels);
    }
}
