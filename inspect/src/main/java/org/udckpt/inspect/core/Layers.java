package org.udckpt.inspect.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.store.Extents;
import org.udckpt.store.OpenNode;

/**
 * Where the bytes of a process's regions are: the pages that it has for itself lie over the mapped object's, or the
 * mapped file's.
 */
final class Layers {
    /** What /proc/PID/maps calls private memory of MAP_HUGETLB. */
    private static final String HUGE_PAGES = "/anon_hugepage";

    private final OpenNode image;
    private final MemorySource memory;
    private final Extents own;
    private final Map<Long, Extents> others = new HashMap<>();
    private final FirstPages firstPages;
    private final Map<Long, SharedMemory> objects = new HashMap<>();
    private final Map<String, SharedMemory> saved = new HashMap<>();

    Layers(OpenNode image, int pid, FirstPages firstPages) {
        this.image = image;
        this.memory = image.memory(pid);
        this.own = new Extents(memory);
        this.firstPages = firstPages;
        image.image().objects().stream().filter(SharedMemory.class::isInstance).map(SharedMemory.class::cast)
                .forEach(object -> {
                    objects.put(object.id(), object);
                    if (named(object)) {
                        saved.put(object.path(), object);
                    }
                });
    }

    private static boolean named(SharedMemory object) {
        return object.kind() == MemoryKind.NAMED_FILE || object.kind() == MemoryKind.DISK_FILE;
    }

    /** The mapped object whose contents are in the image; null where there is none. */
    private SharedMemory backing(Region region) {
        return region.backing() != 0 ? objects.get(region.backing()) : saved.get(region.path());
    }

    /** Whether a file of that name is expected to be there. */
    boolean onFile(Region region) {
        SharedMemory backing = backing(region);
        return backing != null ? named(backing)
                : region.path().startsWith("/") && !region.path().equals(HUGE_PAGES)
                        && !region.path().startsWith("/dev/");
    }

    /** All of the region, ascending. */
    List<Piece> of(Region region) {
        List<Piece> pieces = new ArrayList<>();
        long at = region.start();
        for (long[] stored : own.within(region.start(), region.end())) {
            below(region, at, stored[0], pieces);
            pieces.add(Piece.stored(stored[0], stored[1], memory, stored[0]));
            at = stored[1];
        }
        below(region, at, region.end(), pieces);
        return pieces;
    }

    private void below(Region region, long start, long end, List<Piece> pieces) {
        SharedMemory backing = backing(region);
        if (start == end) {
            return;
        }
        if (backing != null) {
            object(region, image.shared(backing.id()), start, end, pieces);
        } else if (onFile(region)) {
            file(region, start, end, pieces);
        } else {
            pieces.add(Piece.zero(start, end));
        }
    }

    private void object(Region region, MemorySource source, long start, long end, List<Piece> pieces) {
        long bias = region.fileOffset() - region.start();
        long at = start;
        for (long[] stored : others.computeIfAbsent(source.id(), _ -> new Extents(source)).within(start + bias,
                end + bias)) {
            if (at < stored[0] - bias) {
                pieces.add(Piece.zero(at, stored[0] - bias));
            }
            pieces.add(Piece.stored(stored[0] - bias, stored[1] - bias, source, stored[0]));
            at = stored[1] - bias;
        }
        if (at < end) {
            pieces.add(Piece.zero(at, end));
        }
    }

    /**
     * The first page of a program or library is put in: debuggers find the build id by it, and with that the right
     * file.
     */
    private void file(Region region, long start, long end, List<Piece> pieces) {
        long at = start;
        MemorySource first = start == region.start() && region.fileOffset() == 0 ? firstPages.of(region.path()) : null;
        if (first != null) {
            pieces.add(Piece.stored(start, start + FirstPages.BYTES, first, 0));
            at += FirstPages.BYTES;
        }
        if (at < end) {
            pieces.add(Piece.file(at, end));
        }
    }
}
