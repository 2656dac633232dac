package org.udckpt.process.kinds.mount;

import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWNS;
import static org.udckpt.linux.LinuxConstants.MNT_DETACH;
import static org.udckpt.linux.LinuxConstants.MS_RDONLY;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.MountView;
import org.udckpt.process.model.OverlayLayer;

/**
 * Mounts an overlay again. Its layers are put under the names that its options have, in a root directory that has
 * nothing else, so that mountinfo shows what it did; a process of the job mounts it there, for an overlay does with its
 * layers what that may.
 */
final class OverlayMaker implements AutoCloseable {
    /** Of a layer that is called /: that cannot be one of several names in a directory. */
    private static final String ROOT = "/.root";
    private static final String MERGED = "/.merged", CHANGES = "/.changes";

    private final RestoreScope scope;
    private final Maker maker;
    private final JobFilesystem overlay;
    private final List<OverlayLayer> layers;
    private final MountThread thread;
    private final Set<String> bound = new HashSet<>();
    private String root;

    /**
     * @param staging in whose namespace the job's file systems are
     * @param place where a directory can be made in it
     */
    OverlayMaker(RestoreScope scope, Maker maker, JobFilesystem overlay, MountThread staging, String place) {
        this.scope = scope;
        this.maker = maker;
        this.overlay = overlay;
        this.layers = scope.objects(OverlayLayer.class).stream().filter(layer -> layer.overlay() == overlay.id())
                .map(OverlayMaker::renamed).toList();
        this.root = place;
        this.thread = new MountThread(staging);
    }

    private static OverlayLayer renamed(OverlayLayer layer) {
        return !layer.layer().equals("/") ? layer
                : new OverlayLayer(layer.id(), layer.overlay(), layer.option(), ROOT, layer.outside(),
                        layer.filesystem(), layer.part());
    }

    /** Whether the overlay can be changed, and this makes the layer into which that goes. */
    boolean hasOwnUpper() {
        return layers.stream().anyMatch(layer -> layer.made() && layer.option().equals(OverlayLayer.UPPER));
    }

    /** Whether it is for reading only, and this makes its uppermost layer. */
    boolean hasOwnLower() {
        return layers.stream().anyMatch(layer -> layer.made() && layer.option().equals(OverlayLayer.LOWER))
                && layers.stream().noneMatch(layer -> layer.option().equals(OverlayLayer.UPPER));
    }

    /** The file systems of which its layers are. */
    static List<Long> on(RestoreScope scope, JobFilesystem overlay) {
        return scope.objects(OverlayLayer.class).stream()
                .filter(layer -> layer.overlay() == overlay.id() && layer.filesystem() != 0)
                .map(OverlayLayer::filesystem).toList();
    }

    /**
     * Puts the layers where they are found.
     *
     * @param outside a thread where the job was started
     * @param places by file system, where it is mounted in the namespace of {@code staging}
     */
    void place(MountThread outside, Map<Long, String> places) {
        MountRestore.own(thread);
        make(root);
        check(thread.call(Syscall.MOUNT, Scratch.string("tmpfs"), Scratch.second(root), Scratch.string("tmpfs"), 0,
                0), "mount a place for layers");
        List<Source> sources = new ArrayList<>();
        for (OverlayLayer layer : layers) {
            Source source = layer.made() ? null
                    : layer.filesystem() == 0 ? new Source(layer.layer(), outside, layer.outside())
                            : new Source(layer.layer(), thread,
                                    MountView.joined(places.get(layer.filesystem()), layer.part()));
            if (source == null) {
                directories(layer.layer());
            } else {
                sources.add(source);
            }
        }
        join(sources);
        sources.sort(Comparator.comparingInt(source -> source.name.length()));
        sources.forEach(this::bind);
        enter();
    }

    /** @param name under which the layer is found, {@code path} where it is for a thread */
    private record Source(String name, MountThread from, String path) {
        /** The directory above, if it is under the same name. */
        Source above() {
            int name = this.name.lastIndexOf('/'), path = this.path.lastIndexOf('/');
            return name <= 0 || path <= 0 || !this.name.substring(name).equals(this.path.substring(path)) ? null
                    : new Source(this.name.substring(0, name), from, this.path.substring(0, path));
        }
    }

    /** The upper directory and the one for work have to be on one mount: what is above both is taken. */
    private void join(List<Source> sources) {
        List<String> names =
                layers.stream().filter(layer -> !layer.option().equals(OverlayLayer.LOWER) && !layer.made())
                        .map(OverlayLayer::layer).toList();
        if (names.size() < 2) {
            return;
        }
        List<Source> both = sources.stream().filter(source -> names.contains(source.name)).toList();
        Source above = both.getFirst().above();
        while (above != null && !(MountView.isBelow(both.get(1).name, above.name)
                && MountView.isBelow(both.get(1).path, above.path))) {
            above = above.above();
        }
        if (above == null) {
            throw new LinuxError("mount an overlay whose upper directory " + names.get(0) + " and working directory "
                    + names.get(1) + " have no directory in common", LinuxError.EXDEV);
        }
        sources.removeAll(both);
        sources.add(above);
    }

    private void bind(Source source) {
        String at = root + source.name;
        int opened = MountCalls.open(source.from, source.path);
        try {
            if (Files.stat(opened).type() != Files.Stat.DIRECTORY) { // as a link, which is not followed
                throw new LinuxError("find the layer " + source.path + " of an overlay", LinuxError.ENOTDIR);
            }
            Files.Stat there = stat(at);
            if (there != null && there.isSame(Files.stat(opened))) {
                return; // on one that is there
            }
            boolean within = bound.stream().anyMatch(other -> MountView.isBelow(source.name, other));
            if (!within) { // else it would be made in a directory of somebody's
                directories(source.name);
            }
            bound.add(source.name);
            int copy = MountCalls.copy(source.from, opened, source.path, false), onto = MountCalls.open(thread, at);
            MountCalls.attach(thread, copy, onto, at);
            Files.close(onto);
            Files.close(copy);
        } finally {
            Files.close(opened);
        }
    }

    private Files.Stat stat(String path) {
        return Files.tryStat(thread.root() + path);
    }

    /** With those above. */
    private void directories(String name) {
        for (int end = name.indexOf('/', 1); end >= 0; end = name.indexOf('/', end + 1)) {
            make(root + name.substring(0, end));
        }
        make(root + name);
    }

    private void make(String path) {
        long made = thread.call(Syscall.MKDIRAT, AT_FDCWD, Scratch.string(path), 0755);
        check(made == -LinuxError.EEXIST ? 0 : made, "make " + path);
    }

    private static void check(long result, String what) {
        LinuxError.check(result, what);
    }

    /** The thread's root directory is that of the layers, and so is the maker's. */
    private void enter() {
        make(root + MERGED);
        make(root + CHANGES);
        int opened = MountCalls.open(thread, root);
        check(thread.call(Syscall.FCHDIR, opened), "enter the place for layers");
        check(thread.call(Syscall.PIVOT_ROOT, Scratch.string("."), Scratch.second(".")), "pivot_root");
        check(thread.call(Syscall.UMOUNT2, Scratch.string("."), MNT_DETACH), "unmount the former root directory");
        Files.close(opened);
        root = "";
        int namespace = thread.namespace();
        long given = scope.give(maker, namespace);
        Files.close(namespace);
        maker.call("enter the place for layers", Syscall.SETNS, given, CLONE_NEWNS);
        maker.call("close", Syscall.CLOSE, given);
    }

    /**
     * Where what the uppermost layer of an overlay for reading only has is to be written: another overlay, which lies
     * only for this time on the other layers.
     *
     * @return a mount, a descriptor of this process
     */
    int mountForChanges() {
        List<OverlayOptions.Layer> without = new ArrayList<>();
        for (OverlayLayer layer : layers) {
            without.add(new OverlayOptions.Layer(without.isEmpty() ? OverlayLayer.UPPER : OverlayLayer.LOWER,
                    layer.layer(), false));
        }
        without.add(new OverlayOptions.Layer(OverlayLayer.WORK, CHANGES, false));
        int mount = mounted(0, OverlayOptions.data(overlay.settings(), without));
        check(thread.call(Syscall.UMOUNT2, Scratch.string(MERGED), MNT_DETACH), "unmount " + MERGED);
        return mount;
    }

    /** Mounts it. Returns the mount, a descriptor of this process. */
    int mount() {
        boolean renamed = layers.stream().anyMatch(layer -> layer.layer().equals(ROOT));
        return mounted(OverlayOptions.isReadOnly(overlay.settings()) ? MS_RDONLY : 0,
                !renamed ? OverlayOptions.data(overlay.settings())
                        : OverlayOptions.data(overlay.settings(), layers.stream()
                                .map(layer -> new OverlayOptions.Layer(layer.option(), layer.layer(), false))
                                .toList()));
    }

    private int mounted(long flags, String data) {
        long result = mount(flags, data);
        if (result == -LinuxError.EPERM) {
            result = mount(flags, OverlayOptions.withoutShown(overlay.settings(), data));
        }
        check(result, "mount an overlay (" + data + ")");
        int opened = MountCalls.open(thread, MERGED);
        try {
            return MountCalls.copy(thread, opened, MERGED, false);
        } finally {
            Files.close(opened);
        }
    }

    private long mount(long flags, String data) {
        return maker.tryCall(Syscall.MOUNT, maker.string(overlay.mounted()), maker.string(MERGED),
                maker.string(OverlayOptions.OVERLAY), flags, maker.string(data));
    }

    /** A thread among the layers. */
    MountThread thread() {
        return thread;
    }

    @Override
    public void close() {
        thread.close();
    }
}
