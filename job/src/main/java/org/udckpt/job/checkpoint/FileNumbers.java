package org.udckpt.job.checkpoint;

import java.util.HashMap;
import java.util.Map;

/**
 * The number of each file's content in all checkpoints of a life: by its number it is compared with what it was in the one before. One for each
 * node; for one thread at a time.
 */
final class FileNumbers {
    private static final int FIRST = 1 << 24; // above those of processes and shared memory

    private final Map<String, Integer> numbers = new HashMap<>();

    int of(String path) {
        return numbers.computeIfAbsent(path, _ -> FIRST + numbers.size());
    }
}
