package org.udckpt.launch.pmi;

import java.util.Map;
import java.util.TreeMap;

/**
 * PMI's key-value space, as far as it is of one agent's ranks: written by put, read by get after a barrier; part of the
 * image.
 */
public final class KeyValueSpace {
    private final String name;
    private final Map<String, String> pairs = new TreeMap<>();

    public KeyValueSpace(String name) {
        this.name = name;
    }

    public String name() {
        return name;
    }

    /** Returns false when the key is there already: PMI-1 has no overwrite. */
    public synchronized boolean put(String key, String value) {
        return pairs.putIfAbsent(key, value) == null;
    }

    public synchronized String get(String key) {
        return pairs.get(key);
    }

    /** The pair at a position in key order, or null past the end (getbyidx). */
    public synchronized Map.Entry<String, String> at(int index) {
        return pairs.entrySet().stream().skip(index).findFirst().map(Map.Entry::copyOf).orElse(null);
    }

    public synchronized Map<String, String> copy() {
        return new TreeMap<>(pairs);
    }
}
