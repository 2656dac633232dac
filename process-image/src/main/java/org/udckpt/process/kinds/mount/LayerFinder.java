package org.udckpt.process.kinds.mount;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountLine;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.MountView;
import org.udckpt.process.model.OverlayLayer;

/**
 * Finds the directories that are the layers of an overlay. Its options name them as they were found when it was
 * mounted, and often nothing is under these names any more: a container's starter has them below a root directory that
 * it leaves (pivot_root(2)). So the ends of such a name are tried, too, and what is found has to be what the overlay
 * shows.
 */
final class LayerFinder {
    /** Names of a layer that are looked up in the overlay. */
    private static final int MOST_TRIED = 4096;
    /** Of numbers of files that have room for more; what is above tells the layer. */
    private static final int INODE_BITS = 48;

    /**
     * A directory that is there.
     *
     * @param through a path of this process
     * @param outside where the job was started; null: on the file system that has {@code device}
     * @param part of that file system
     */
    record Place(String through, String outside, long device, String part) {}

    private final JobMounts all;
    private final MountNamespace namespace;
    /** The overlay's root directory. */
    private final String top;
    private final long device;
    private final String point;
    private int tried;

    LayerFinder(JobMounts all, MountNamespace namespace, MountLine overlay, String top) {
        this.all = all;
        this.namespace = namespace;
        this.top = top;
        this.device = overlay.device();
        this.point = overlay.point();
    }

    /** The upper directory, or a lower one; null: it is not to be found. */
    Place find(OverlayOptions.Layer layer) {
        for (String end : names(layer)) {
            for (Place place : places(end)) {
                if (isLayer(place.through, layer, layer.relative() || end.equals(layer.path()))) {
                    return place;
                }
            }
        }
        return null;
    }

    /**
     * A lower directory of an overlay of which all that another one has not is in the image, so that any would do: the
     * first under such a name that has a name in common with it.
     */
    Place likely(OverlayOptions.Layer layer) {
        for (String end : names(layer)) {
            for (Place place : places(end)) {
                try (Folder folder = open(place.through)) {
                    if (end.equals(layer.path()) || folder.names().stream().anyMatch(this::isShown)) {
                        return place;
                    }
                } catch (LinuxError closed) {
                    continue; // another one may do
                }
            }
        }
        return null;
    }

    private static Folder open(String directory) {
        return Folder.of(directory, Files.open(directory, Syscall.O_RDONLY | Syscall.O_DIRECTORY));
    }

    private boolean isShown(String name) {
        return Files.tryLinkStat(top + "/" + name) != null;
    }

    /** From the whole name on to the root directory; a relative one is tried in all directories above the overlay. */
    private List<String> names(OverlayOptions.Layer layer) {
        String path = layer.path();
        List<String> ends = new ArrayList<>();
        for (int end = point.length(); layer.relative() && end > 0; end = point.lastIndexOf('/', end - 1)) {
            ends.add(point.substring(0, end) + path);
        }
        for (int from = 0; from >= 0; from = path.indexOf('/', from + 1)) {
            ends.add(path.substring(from));
        }
        if (path.length() > 1) {
            ends.add("/");
        }
        return ends;
    }

    /** The directory beside an upper one in which an overlay prepares its changes. */
    Place beside(Place upper, OverlayOptions.Layer work) {
        for (String end : names(work)) {
            for (Place place : places(end)) {
                if (MountIds.of(place.through) == MountIds.of(upper.through)
                        && Files.tryStat(place.through + "/work") != null) {
                    return place;
                }
            }
        }
        return null;
    }

    private List<Place> places(String path) {
        List<Place> places = new ArrayList<>();
        Place inside = inside(path);
        if (inside != null) {
            places.add(inside);
        }
        if (leads(all.origin(), path) && namespace.isHere(path)) {
            places.add(new Place(all.outsideRoot() + path, path, 0, ""));
        }
        return places;
    }

    private Place inside(String path) {
        if (!leads(namespace.thread(), path)) {
            return null;
        }
        String through = namespace.thread().root() + path;
        int mount = MountIds.of(through);
        MountLine on = namespace.lines().stream().filter(line -> line.id() == mount).findFirst().orElse(null);
        if (on == null || on.device() == device) {
            return null;
        }
        String behind = MountView.behind(path, on.point()), there = namespace.outside(on);
        if (there != null) {
            return new Place(through, MountView.joined(there, behind), 0, "");
        }
        return new Place(through, null, on.device(), MountView.joined(on.root(), behind));
    }

    /** Whether it is a directory and no symbolic link is on the way: a restart follows none. */
    private static boolean leads(MountThread thread, String path) {
        try {
            int opened = MountCalls.open(thread, path);
            boolean directory = Files.stat(opened).type() == Files.Stat.DIRECTORY;
            Files.close(opened);
            return directory;
        } catch (LinuxError nothing) {
            return false;
        }
    }

    private boolean isLayer(String through, OverlayOptions.Layer layer, boolean exactly) {
        byte[] shown = FileHandles.inLayer(top + "/."); // and not of the link in /proc
        boolean upper = layer.option().equals(OverlayLayer.UPPER);
        boolean root = shown != null ? Arrays.equals(shown, FileHandles.of(through))
                : upper && isAsOld(Files.stat(top), Files.stat(through));
        if (upper && (!root || shown != null || exactly)) {
            return root;
        }
        tried = 0;
        try (Folder folder = open(through)) {
            boolean hidden = exactly && folder.names().stream().noneMatch(this::isShown);
            return root && !upper || hidden || shows(folder, top);
        } catch (LinuxError closed) {
            return false;
        }
    }

    /** Whether the overlay shows something that is in a directory. */
    private boolean shows(Folder folder, String merged) {
        List<String> directories = new ArrayList<>();
        for (String name : folder.names()) {
            if (++tried > MOST_TRIED) {
                return false;
            }
            Files.Stat stat = folder.stat(name), seen = Files.tryLinkStat(merged + "/" + name);
            if (stat == null || seen == null) {
                continue;
            }
            byte[] shown = FileHandles.inLayer(merged + "/" + name);
            boolean directory = stat.type() == Files.Stat.DIRECTORY;
            // who is root in a user namespace only mounts an overlay without handles, which shows files' own numbers
            if (shown != null
                    ? Arrays.equals(shown, FileHandles.of(Files.ofDescriptor(folder.descriptor()) + "/" + name))
                    : !directory && isNumber(stat.inode(), seen.inode()) && stat.size() == seen.size()
                            && isAsOld(stat, seen)) {
                return true;
            }
            if (directory) {
                directories.add(name);
            }
        }
        for (String name : directories) {
            String path = Files.ofDescriptor(folder.descriptor()) + "/" + name;
            try (Folder sub = open(path)) {
                if (shows(sub, merged + "/" + name)) {
                    return true;
                }
            } catch (LinuxError closed) {
                continue; // another one may tell
            }
        }
        return false;
    }

    /** An overlay may show the file system in the uppermost bits (xino=on). */
    private static boolean isNumber(long layers, long shown) {
        return layers == shown || layers >>> INODE_BITS == 0 && (shown & (1L << INODE_BITS) - 1) == layers;
    }

    /** Whether directories that lie on each other have the names that the overlay's root directory has. */
    boolean show(List<Place> layers) {
        try (Folder folder = open(top + "/.")) {
            return LowerLayers.names(layers.stream().map(Place::through).toList()).keySet()
                    .equals(Set.copyOf(folder.names()));
        }
    }

    /** Nobody can set the time of a change. */
    private static boolean isAsOld(Files.Stat one, Files.Stat other) {
        return one.changed() == other.changed() && one.modified() == other.modified() && one.mode() == other.mode()
                && one.uid() == other.uid() && one.gid() == other.gid();
    }
}
