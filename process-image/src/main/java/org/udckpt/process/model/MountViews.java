package org.udckpt.process.model;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Where the paths of an image lead in the mount namespace in which the job was started. */
public final class MountViews {
    private final Map<Integer, Integer> namespaces = new HashMap<>();
    private final Map<Integer, MountView> views = new HashMap<>();
    private final Map<Integer, Set<String>> outside = new HashMap<>();
    private final Map<Integer, Set<String>> earlier = new HashMap<>();
    /** By namespace and number. */
    private final Map<List<Integer>, JobMount> mounts = new HashMap<>();
    private final Map<Long, Integer> users = new HashMap<>();
    private final Set<Long> opened = new HashSet<>();
    private final OverlayViews overlays = new OverlayViews();

    private MountViews() {}

    /** Of an image. */
    public static MountViews of(JobImage image) {
        return of(image.objects(), image.descriptors());
    }

    /** Of its objects and their descriptors. */
    public static MountViews of(List<KernelObject> objects, List<Descriptor> descriptors) {
        MountViews all = new MountViews();
        Map<Integer, List<JobMount>> mounts = new HashMap<>();
        for (KernelObject object : objects) {
            switch (object) {
                case OverlayLayer layer -> all.overlays.add(layer);
                case FilesystemEntry entry -> all.overlays.add(entry);
                case NamespaceMember member -> all.namespaces.put(member.pid(), member.tree());
                case JobMount mount when mount.tree() != 0 -> mounts
                        .computeIfAbsent(mount.tree(), _ -> new ArrayList<>()).add(mount);
                case OutsidePath path when path.open() != 0 -> all.opened.add(path.open());
                case OutsidePath path -> all.outside.computeIfAbsent(path.tree(), _ -> new HashSet<>())
                        .add(path.path());
                case EarlierPath path -> all.earlier.computeIfAbsent(path.pid(), _ -> new HashSet<>())
                        .add(path.path());
                default -> {
                }
            }
        }
        mounts.forEach((namespace, rows) -> {
            all.views.put(namespace, view(rows));
            rows.forEach(row -> all.mounts.put(List.of(namespace, row.number()), row));
        });
        if (!all.namespaces.isEmpty()) {
            descriptors.forEach(one -> all.users.putIfAbsent(one.object(), one.pid()));
        }
        return all;
    }

    private static MountView view(List<JobMount> mounts) {
        Map<Integer, JobMount> byNumber = new HashMap<>();
        mounts.forEach(mount -> byNumber.put(mount.number(), mount));
        return new MountView(mounts.stream().map(mount -> new MountView.Row(mount.number(), mount.parent(),
                point(mount, byNumber), mount.filesystem() == 0 ? mount.outside() : null)).toList());
    }

    private static String point(JobMount mount, Map<Integer, JobMount> byNumber) {
        JobMount above = byNumber.get(mount.parent());
        return above == null ? "/"
                : mount.point().equals("/") ? point(above, byNumber)
                        : MountView.joined(point(above, byNumber), mount.point());
    }

    /**
     * Whether it is no more than what the machine has at the same place: nobody misses it where that has gone. @param
     * mount of one of these namespaces
     */
    public boolean isMachines(JobMount mount) {
        MountView view = views.get(mount.tree());
        return view != null && mount.parent() != 0 && view.rows().stream()
                .anyMatch(row -> row.number() == mount.number() && row.point().equals(row.outside()));
    }

    /** The namespace of a process, as {@link JobMount#tree}; 0: that in which the job was started. */
    public int namespace(int pid) {
        return namespaces.getOrDefault(pid, 0);
    }

    /** Whether all processes are in the namespace in which the job was started. */
    public boolean one() {
        return namespaces.isEmpty();
    }

    /** Whether a process has a path from before it was in its namespace. */
    public boolean from(int pid, String path) {
        return namespace(pid) != 0 && (earlier.getOrDefault(pid, Set.of()).contains(path)
                || outside.getOrDefault(namespace(pid), Set.of()).contains(path));
    }

    /** Whether an object was opened before the process was in its namespace. */
    public boolean from(long object) {
        return opened.contains(object);
    }

    /** Where a path of a process leads; null: to a file system of the job's own. */
    public String outside(int pid, String path) {
        MountView view = views.get(namespace(pid));
        return view == null || from(pid, path) ? path : view.outside(path);
    }

    /**
     * Where the file is that an overlay of the job's own shows a process: in a layer that is outside. Null: it is no
     * overlay, or the file comes with the image.
     */
    public String inLayer(int pid, String path) {
        int namespace = namespace(pid);
        MountView view = views.get(namespace);
        MountView.Row on = view == null || from(pid, path) ? null : view.on(path);
        if (on == null || on.outside() != null) {
            return null;
        }
        JobMount mount = mounts.get(List.of(namespace, on.number()));
        return overlays.outside(mount.filesystem(), MountView.joined(mount.part(), MountView.behind(path, on.point())));
    }

    /** The same of the first process that has an object open. */
    public String outsideOf(long object, String path) {
        return from(object) ? path : outside(users.getOrDefault(object, 0), path);
    }
}
