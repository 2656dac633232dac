package org.udckpt.inspect.view;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.OpenFile;

/** The kernel objects of a checkpoint, by id: what its descriptors name. */
public final class KernelObjects {
    private final Map<Long, Named> objects = new HashMap<>();

    /**
     * One object.
     *
     * @param kind as in the image's table, {@code OpenFile}
     * @param name what tells it from others of its kind: a path, addresses; "" where nothing does
     * @param position of a file, else -1
     */
    public record Named(String kind, String name, long position) {
        @Override
        public String toString() {
            return name.isEmpty() ? kind : kind + " " + name;
        }

        /** The same thing in another checkpoint, wherever its position is. */
        public boolean same(Named other) {
            return kind.equals(other.kind) && name.equals(other.name);
        }
    }

    public KernelObjects(JobImage image) {
        image.objects().forEach(object -> add(object.id(), object));
        image.terminals().forEach(object -> add(object.id(), object));
        image.packetSockets().forEach(socket -> add(socket.id(), socket));
        image.tcpSockets().forEach(socket -> add(socket.id(), socket));
    }

    /** The object of a descriptor. */
    public Named get(long id) {
        return objects.getOrDefault(id, new Named("unknown", "object " + id, -1));
    }

    /** How many there are of each kind, whether a descriptor names them or not. */
    public Map<String, Integer> kinds() {
        Map<String, Integer> kinds = new TreeMap<>();
        objects.values().forEach(object -> kinds.merge(object.kind(), 1, Integer::sum));
        return kinds;
    }

    private <T> void add(long id, T object) {
        ObjectKind<T> kind = ObjectKinds.of(object);
        objects.put(id, new Named(object.getClass().getSimpleName(), kind.shown(object), kind.position(object)));
    }
}
