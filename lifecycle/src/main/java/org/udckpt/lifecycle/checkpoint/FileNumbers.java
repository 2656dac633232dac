package org.udckpt.lifecycle.checkpoint;

import java.util.HashMap;
import java.util.Map;

/**
 * What is known of files from one checkpoint of an incarnation to the next. The number of each file's content, by which
 * it is compared with what it was in the one before; and what programs and libraries are. One for each node; for one
 * thread at a time.
 */
final class FileNumbers {
    private static final int FIRST = 1 << 24; // above those of processes and shared memory

    private final Map<String, Integer> numbers = new HashMap<>();
    private final KnownPrograms programs = new KnownPrograms();

    int of(String path) {
        return numbers.computeIfAbsent(path, _ -> FIRST + numbers.size());
    }

    KnownPrograms programs() {
        return programs;
    }
}
