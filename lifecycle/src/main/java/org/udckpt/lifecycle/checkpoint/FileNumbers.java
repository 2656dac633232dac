package org.udckpt.lifecycle.checkpoint;

import java.util.HashMap;
import java.util.Map;

/**
 * Remembers files from one checkpoint of an incarnation to the next: a number for each file's content, by which it is
 * compared with the content at the checkpoint before, and the identities of programs and libraries. One per node; for
 * one thread at a time.
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
