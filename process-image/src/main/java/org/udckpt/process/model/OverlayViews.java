package org.udckpt.process.model;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Files;

/** In which layer of an overlay of the job's own a file is. */
final class OverlayViews {
    private final Map<Long, List<OverlayLayer>> layers = new HashMap<>();
    private final Map<Long, Set<String>> entries = new HashMap<>();

    void add(OverlayLayer layer) {
        layers.computeIfAbsent(layer.overlay(), _ -> new ArrayList<>()).add(layer);
    }

    void add(FilesystemEntry entry) {
        entries.computeIfAbsent(entry.filesystem(), _ -> new HashSet<>()).add(entry.path());
    }

    /** Where it is outside; null: in the image, or nowhere. @param path in the file system {@code overlay} */
    String outside(long overlay, String path) {
        if (comes(overlay, path)) {
            return null;
        }
        for (OverlayLayer layer : layers.getOrDefault(overlay, List.of())) {
            if (layer.filesystem() != 0 && comes(layer.filesystem(), MountView.joined(layer.part(), path))) {
                return null;
            }
            String outside = MountView.joined(layer.outside(), path);
            Files.Stat stat = layer.outside().isEmpty() ? null : Files.tryStat(outside);
            if (stat != null && stat.type() == Files.Stat.REGULAR) {
                return outside;
            }
        }
        return null;
    }

    private boolean comes(long filesystem, String path) {
        return entries.getOrDefault(filesystem, Set.of()).contains(path);
    }
}
