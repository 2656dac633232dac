package org.udckpt.process.files;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Files that were once written while they were being saved: they are copied during the stop from then on, where there
 * is room.
 */
public final class HotFiles {
    private final Set<String> paths = ConcurrentHashMap.newKeySet();

    void add(String path) {
        paths.add(path);
    }

    boolean contains(String path) {
        return paths.contains(path);
    }
}
