package org.udckpt.process.kinds.mount;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.MountLine;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.MountView;
import org.udckpt.process.model.OverlayLayer;

/**
 * The records of an overlay that only the job has mounted: where its layers are, and what it shows besides those that
 * are there. Containers' starters put changes into a tmpfs that nobody else sees: that is made anew in a restart.
 */
final class OverlayRows {
    private final JobMounts mounts;
    private final ObjectTable table;
    private final Map<Long, Long> filesystems;
    private final Map<Long, Set<String>> emptied = new HashMap<>();
    private MountNamespace namespace;
    private MountLine mount;

    /** @param filesystems by device */
    OverlayRows(JobMounts mounts, ObjectTable table, Map<Long, Long> filesystems) {
        this.mounts = mounts;
        this.table = table;
        this.filesystems = filesystems;
    }

    /** When all file systems are in the table. @param reader of what the overlay shows */
    void add(long device, JobFilesystem overlay, TmpfsReader reader) {
        List<Map.Entry<MountNamespace, MountLine>> all = mounts.of(device);
        OverlayOptions options = OverlayOptions.of(overlay.settings());
        Map.Entry<MountNamespace, MountLine> whole = all.stream().filter(one -> one.getValue().root().equals("/"))
                .min(Comparator.comparingLong(one -> named(one.getKey(), options))).orElse(all.getFirst());
        namespace = whole.getKey();
        mount = whole.getValue();
        if (!mount.root().equals("/")) {
            throw refusal("of which only a part is mounted");
        }
        if (options.refusal() != null) {
            throw refusal("which " + options.refusal());
        }
        reader.look(namespace, mount, top -> {
            List<LayerFinder.Place> lower = layers(filesystems.get(device), options, top);
            if (lower != null) {
                reader.below(mount.root(), top,
                        LowerLayers.names(lower.stream().map(LayerFinder.Place::through).toList()));
            }
        });
    }

    /** How many layers have names that lead nowhere: in the namespace of who has mounted it none may. */
    private static long named(MountNamespace namespace, OverlayOptions options) {
        return options.layers().stream()
                .filter(layer -> Files.tryStat(namespace.thread().root() + layer.path()) == null).count();
    }

    /** Adds those of an overlay. Returns those that are there if it shows what is in none of them, else null. */
    private List<LayerFinder.Place> layers(long id, OverlayOptions options, String top) {
        LayerFinder finder = new LayerFinder(mounts, namespace, mount, top);
        List<LayerFinder.Place> shown = new ArrayList<>();
        LayerFinder.Place upper = null;
        String missing = null;
        boolean first = true, above = false;
        List<String> made = new ArrayList<>(), found = new ArrayList<>();
        for (OverlayOptions.Layer layer : options.layers()) {
            boolean work = layer.option().equals(OverlayLayer.WORK);
            LayerFinder.Place place = !work ? finder.find(layer) : upper == null ? null : finder.beside(upper, layer);
            if (place == null && above && !work) {
                place = finder.likely(layer);
            }
            above |= first && place == null;
            first = false;
            if (layer.option().equals(OverlayLayer.UPPER)) {
                upper = place;
                if (place != null && place.outside() != null) {
                    throw refusal("whose upper directory " + place.outside() + " is not in the job: take one on a "
                            + "tmpfs of the job's own (Apptainer: --writable-tmpfs)");
                }
            } else if (work && upper != null) {
                refuseWork(layer, place);
            }
            if (!work && place != null) {
                shown.add(place);
            }
            if (work && place != null) {
                emptied.computeIfAbsent(place.device(), _ -> new HashSet<>())
                        .add(MountView.joined(place.part(), "/work"));
            }
            if (place == null) {
                missing = layer.path();
                made.add(missing);
            } else {
                found.add(layer.path());
            }
            table.add(new OverlayLayer(table.newId(), id, layer.option(), layer.path(),
                    place == null || place.outside() == null ? "" : place.outside(),
                    place == null || place.outside() != null ? 0 : filesystems.get(place.device()),
                    place == null || place.outside() != null ? "" : place.part()));
        }
        if (missing == null) {
            if (!finder.show(shown)) {
                throw refusal("which does not show what is in its layers now: other directories have their names");
            }
            return null;
        }
        for (String name : made) { // a restart would make one in the other; / gets another name there
            found.stream().filter(other -> !other.equals("/"))
                    .filter(other -> MountView.isBelow(name, other) || MountView.isBelow(other, name))
                    .findFirst().ifPresent(other -> {
                        throw refusal("whose layer " + name + " was not found, and is in another one, " + other
                                + ", or has that in it");
                    });
        }
        if (!above || shown.isEmpty()) {
            throw refusal("whose layer " + missing + " was not found, neither in the job nor where it was started, "
                    + "under this name or an end of it (Linux 6.6)");
        }
        return shown;
    }

    /** With an index it knows its upper directory by a handle, which no copy of that has. */
    private void refuseWork(OverlayOptions.Layer layer, LayerFinder.Place place) {
        if (place == null) {
            throw refusal("whose working directory " + layer.path() + " was not found");
        }
        if (Files.tryStat(place.through() + "/index") != null) {
            throw refusal("that has an index (index=on), with which a restart could not mount it: mount it with "
                    + "index=off");
        }
    }

    /** Directories in a file system that are emptied when the overlay is mounted whose changes are prepared there. */
    Set<String> emptied(long device) {
        return emptied.getOrDefault(device, Set.of());
    }

    private RuntimeException refusal(String why) {
        return namespace.refusal("has " + mount.point() + ", an overlay " + why + ", which");
    }
}
