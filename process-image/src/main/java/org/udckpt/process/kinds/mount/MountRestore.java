package org.udckpt.process.kinds.mount;

import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWNS;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_ATIME;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NODEV;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NODIRATIME;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NOEXEC;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NOSUID;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NOSYMFOLLOW;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_RDONLY;
import static org.udckpt.linux.LinuxConstants.MS_PRIVATE;
import static org.udckpt.linux.LinuxConstants.MS_REC;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.named.EndedProcessFile;
import org.udckpt.process.kinds.namespace.NamespaceRestore;
import org.udckpt.process.model.FilesystemEntry;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.JobMount;
import org.udckpt.process.model.MountViews;
import org.udckpt.process.model.NamespaceMember;
import org.udckpt.process.model.NamespaceOwner;
import org.udckpt.process.model.UserNamespace;

/**
 * Makes mount namespaces, in threads of this process, and lets the job's processes enter them before anything is found
 * by a name.
 */
final class MountRestore implements KindRestore<JobMount> {
    /** What {@link JobMount#attributes} may have. */
    static final int ATTRIBUTES = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC
            | MOUNT_ATTR_ATIME | MOUNT_ATTR_NODIRATIME | MOUNT_ATTR_NOSYMFOLLOW;
    static final String QUEUES = "mqueue";
    /** Places in a message. */
    private static final int NAMED = 3;
    /** A directory that is there. */
    private static final String STAGING = "/proc";

    private final RestoreScope scope;
    private final Map<Long, EntryWriter> filesystems = new LinkedHashMap<>();
    /** Where file systems are mounted, by number: who is in a user namespace further below gets copies. */
    private final Map<Long, Place> made = new HashMap<>();

    private record Place(MountThread staging, String path) {}

    MountRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void enter() {
        Map<Integer, List<JobMount>> trees = MountTrees.of(scope.image());
        trees.values().forEach(mounts -> mounts.replaceAll(this::withoutEnded));
        List<NamespaceMember> members = scope.objects(NamespaceMember.class);
        if (members.isEmpty() && NamespaceRestore.none(scope)) {
            return;
        }
        Map<Integer, Long> owners = new HashMap<>();
        scope.objects(NamespaceOwner.class).forEach(one -> owners.put(one.tree(), one.userOwner()));
        List<MountThread> stagings = new ArrayList<>();
        try (NamespaceRestore namespaces = new NamespaceRestore(scope)) {
            namespaces.makeOthers(0);
            enter(trees, members, owners, 0, stagings);
            for (UserNamespace user : namespaces.users()) {
                namespaces.enter(user);
                namespaces.makeOthers(user.id());
                enter(trees, members, owners, user.id(), stagings);
            }
        } finally {
            made.clear();
            stagings.forEach(MountThread::close);
        }
    }

    /** What was of a process that has ended is of one that will have. */
    private JobMount withoutEnded(JobMount mount) {
        EndedProcessFile ended = JobMountKind.ended(mount);
        return ended == null ? mount
                : new JobMount(mount.id(), mount.tree(), mount.number(), mount.parent(), mount.point(),
                        ended.of(scope.endingChild(ended.endingChild())), 0, "", mount.attributes(), mount.peers(),
                        mount.master(), mount.unbindable());
    }

    /** Makes those that a user namespace owns, and lets their processes, which are in that now, enter them. */
    private void enter(Map<Integer, List<JobMount>> all, List<NamespaceMember> everybody, Map<Integer, Long> owners,
            long owner, List<MountThread> stagings) {
        Map<Integer, List<JobMount>> trees = new HashMap<>(all);
        trees.keySet().removeIf(tree -> owners.getOrDefault(tree, 0L) != owner);
        List<NamespaceMember> members = everybody.stream().filter(one -> trees.containsKey(one.tree())).toList();
        if (members.isEmpty()) {
            return;
        }
        Maker any = scope.process(members.getFirst().pid());
        if (owner != 0) { // what it has now cannot be moved by who is in that user namespace, but covered
            any.call("unshare its mounts", Syscall.UNSHARE, CLONE_NEWNS);
        }
        Map<Integer, TreeBuilder> built = new LinkedHashMap<>();
        MountThread staging = new MountThread(any.hostPid());
        stagings.add(staging);
        try (MountThread outside = new MountThread(any.hostPid())) {
            Map<Long, String> places = makeFilesystems(new FilesystemMakers(scope, any, members, owner != 0), staging,
                    trees.values(), owner != 0);
            makeOverlays(any, outside, staging, used(trees.values()), places, owner != 0);
            trees.forEach((number, mounts) -> built.put(number, build(mounts, outside, staging, places, owner != 0)));
            share(built, outside, owner);
            members.forEach(member -> enter(member, built.get(member.tree())));
        } catch (LinuxError e) {
            throw any.failed("its mount namespace cannot be made again: " + e.getMessage());
        } finally {
            built.values().forEach(TreeBuilder::close);
        }
    }

    private static Set<Long> used(Collection<List<JobMount>> trees) {
        return trees.stream().flatMap(List::stream).map(JobMount::filesystem).collect(Collectors.toSet());
    }

    /**
     * Makes all file systems of the job's own but overlays, in a namespace where they can be copied from; where they
     * are there.
     */
    private Map<Long, String> makeFilesystems(FilesystemMakers makers, MountThread staging,
            Collection<List<JobMount>> trees, boolean owned) {
        Set<Long> used = used(trees);
        own(staging);
        Map<Long, String> places = new HashMap<>();
        LinuxError
                .check(staging.call(Syscall.MOUNT, Scratch.string("tmpfs"), Scratch.second(STAGING),
                        Scratch.string("tmpfs"),
                        0, 0), "mount a place for file systems");
        for (JobFilesystem system : scope.objects(JobFilesystem.class)) {
            Place there = used.contains(system.id()) ? made.get(system.id()) : null;
            if (there != null) {
                places.put(system.id(), copy(system, there, staging));
            } else if (used.contains(system.id()) && !isOverlay(system)) {
                int mount = FilesystemMaker.make(makers.of(system), system, owned);
                String place = place(system, mount, staging);
                EntryWriter writer = writer(system, mount);
                writer.write(owned && User.id() == 0 ? staging : null);
                places.put(system.id(), place);
            }
        }
        return places;
    }

    private String copy(JobFilesystem system, Place there, MountThread staging) {
        int opened = MountCalls.open(there.staging, there.path);
        try {
            int mount = MountCalls.copy(there.staging, opened, there.path, false);
            try {
                return place(system, mount, staging);
            } finally {
                Files.close(mount);
            }
        } finally {
            Files.close(opened);
        }
    }

    private static boolean isOverlay(JobFilesystem system) {
        return system.fileSystem().equals(OverlayOptions.OVERLAY);
    }

    private EntryWriter writer(JobFilesystem system, int mount) {
        EntryWriter writer = new EntryWriter(scope, mount, scope.objects(FilesystemEntry.class).stream()
                .filter(entry -> entry.filesystem() == system.id()).toList());
        filesystems.put(system.id(), writer);
        return writer;
    }

    /** Mounts it where it can be copied from. */
    private String place(JobFilesystem system, int mount, MountThread staging) {
        String place = STAGING + "/" + system.id();
        LinuxError.check(staging.call(Syscall.MKDIRAT, AT_FDCWD, Scratch.string(place), 0700), "make " + place);
        int directory = MountCalls.open(staging, place);
        MountCalls.attach(staging, mount, directory, place);
        Files.close(directory);
        made.putIfAbsent(system.id(), new Place(staging, place));
        return place;
    }

    /** Overlays come behind what their layers are on; then {@code any} sees nothing but layers. */
    private void makeOverlays(Maker any, MountThread outside, MountThread staging, Set<Long> used,
            Map<Long, String> places, boolean owned) {
        List<JobFilesystem> left = new ArrayList<>(scope.objects(JobFilesystem.class).stream()
                .filter(system -> used.contains(system.id()) && !places.containsKey(system.id()) && isOverlay(system))
                .toList());
        while (!left.isEmpty()) {
            JobFilesystem next = left.stream()
                    .filter(system -> places.keySet().containsAll(OverlayMaker.on(scope, system))).findFirst()
                    .orElseThrow(() -> scope.inconsistent("the image is inconsistent: an overlay has layers on a file "
                            + "system that no namespace of the same user has"));
            left.remove(next);
            String root = STAGING + "/layers-" + next.id();
            try (OverlayMaker maker = new OverlayMaker(scope, any, next, staging, root)) {
                maker.place(outside, places);
                MountThread creator = owned && User.id() == 0 ? maker.thread() : null;
                if (maker.hasOwnUpper()) { // two mounts of it would not know of each other's changes
                    int mount = maker.mount();
                    places.put(next.id(), place(next, mount, staging));
                    writer(next, mount).writeOver(creator);
                    continue;
                }
                if (maker.hasOwnLower()) {
                    writer(next, maker.mountForChanges()).writeOver(creator);
                }
                int mount = maker.mount();
                places.put(next.id(), place(next, mount, staging));
                Files.close(mount);
            }
        }
    }

    /** Puts a thread into a copy of its namespace, of which nobody else hears. */
    static void own(MountThread thread) {
        LinuxError.check(thread.call(Syscall.UNSHARE, CLONE_NEWNS), "unshare(CLONE_NEWNS)");
        LinuxError.check(thread.call(Syscall.MOUNT, 0, Scratch.string("/"), 0, MS_REC | MS_PRIVATE, 0),
                "make mounts private");
    }

    private TreeBuilder build(List<JobMount> mounts, MountThread outside, MountThread staging,
            Map<Long, String> places, boolean whole) {
        TreeBuilder tree = new TreeBuilder(mounts, new MountThread(staging), whole);
        try {
            own(tree.thread());
            Predicate<JobMount> machines = MountViews.of(scope.image())::isMachines;
            tree.leaveOut(outside, machines);
            tree.make(outside, places, machines);
            tree.attach();
            return tree;
        } catch (RuntimeException | Error e) {
            tree.close();
            throw e;
        }
    }

    private void share(Map<Integer, TreeBuilder> built, MountThread outside, long owner) {
        try (PeerGroups groups = new PeerGroups(owner != 0)) {
            built.values().forEach(groups::add);
            scope.objects(JobMount.class).stream().filter(mount -> mount.tree() == 0 && owner == 0)
                    .filter(mount -> MountIds.isRoot(outside.root() + mount.outside()))
                    .forEach(mount -> groups.add(mount, outside));
            groups.join();
            if (!groups.apart().isEmpty()) {
                scope.warn("what is mounted from now on at or below "
                        + groups.apart().stream().limit(NAMED).collect(Collectors.joining(", "))
                        + (groups.apart().size() > NAMED ? " and elsewhere" : "")
                        + " in one mount namespace of the job does not appear in its others any more: the kernel lets "
                        + "nobody in a user namespace share these mounts again");
            }
        }
    }

    private void enter(NamespaceMember member, TreeBuilder tree) {
        Maker maker = scope.process(member.pid());
        int namespace = tree.thread().namespace();
        long given = scope.give(maker, namespace);
        Files.close(namespace);
        maker.call("enter its mount namespace", Syscall.SETNS, given, CLONE_NEWNS);
        maker.call("close", Syscall.CLOSE, given);
    }

    @Override
    public void finishMemory() {
        List<EntryWriter> writers = new ArrayList<>(filesystems.values());
        Map<JobFilesystem, EntryWriter> systems = new LinkedHashMap<>();
        scope.objects(JobFilesystem.class).stream().filter(system -> filesystems.containsKey(system.id()))
                .forEach(system -> systems.put(system, filesystems.get(system.id())));
        filesystems.clear();
        try {
            writers.forEach(EntryWriter::setTimes);
            systems.forEach((system, writer) -> FilesystemMaker.fix(system, writer.root()));
        } finally {
            writers.forEach(EntryWriter::close);
        }
    }
}
