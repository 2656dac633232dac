package org.udckpt.process.kinds.socket;

import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.linux.Files;

/** Sockets that were made in this process, by their objects' ids. */
public final class MadeSockets implements AutoCloseable {
    private final Map<Long, Integer> made = new LinkedHashMap<>();

    /** One more. */
    public void add(long object, int descriptor) {
        made.put(object, descriptor);
    }

    /** The descriptor of the object, which was made. */
    public int get(long object) {
        return made.get(object);
    }

    /** Whether the object was made. */
    public boolean has(long object) {
        return made.containsKey(object);
    }

    /** All, in the order in which they were made. */
    public Map<Long, Integer> all() {
        return made;
    }

    @Override
    public void close() {
        made.values().forEach(Files::close);
        made.clear();
    }
}
