package org.udckpt.process.kinds.mount;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.udckpt.linux.MountLine;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.kinds.namespace.IpcNamespaces;
import org.udckpt.process.model.EarlierPath;
import org.udckpt.process.model.IpcPlace;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.JobMount;
import org.udckpt.process.model.MountView;
import org.udckpt.process.model.NamespaceMember;
import org.udckpt.process.model.NamespaceOwner;

/** The records of a job's mount namespaces, while it stands still. */
public final class MountRows {
    private final JobMounts mounts;
    private final ObjectTable table;
    private final TmpfsReader.Contents contents;
    private final QuietFiles quiet;
    private final Map<Long, Long> filesystems = new HashMap<>();
    private List<? extends StoppedProcess> processes;
    /** Peer groups of mounts that user namespaces of the job own. */
    private final Set<Integer> ownGroups = new HashSet<>();

    /** @param contents where those of files go */
    public MountRows(JobMounts mounts, ObjectTable table, TmpfsReader.Contents contents, QuietFiles quiet) {
        this.mounts = mounts;
        this.table = table;
        this.contents = contents;
        this.quiet = quiet;
    }

    /** @param all processes of the job's here */
    public void add(List<? extends StoppedProcess> all) {
        processes = all;
        Map<Integer, StoppedProcess> members = new HashMap<>();
        for (StoppedProcess process : processes) {
            if (process.mountNamespace() != 0) {
                members.putIfAbsent(process.mountNamespace(), process);
                table.add(new NamespaceMember(table.newId(), process.namespacePid(), process.mountNamespace()));
            }
        }
        Map<Long, Long> users = mounts.others().add(table);
        mounts.others().networks().add(table, users, processes);
        ShownPids shown = new ShownPids(mounts.others().pids().firsts(), processes.getFirst());
        mounts.filesystems().forEach((device, read) -> filesystem(device, read, shown));
        OverlayRows overlays = new OverlayRows(mounts, table, filesystems);
        mounts.filesystems().forEach((device, read) -> {
            if (mounts.isOverlay(device)) {
                overlays.add(device, read, new TmpfsReader(table, filesystems.get(device), contents, quiet,
                        Set.of()));
            }
        });
        mounts.filesystems().forEach((device, read) -> {
            if (read.fileSystem().equals("tmpfs")) {
                contents(device, overlays.emptied(device));
            }
        });
        Set<Integer> groups = groups();
        for (MountNamespace namespace : mounts.namespaces()) {
            StoppedProcess process = members.get(namespace.number());
            if (namespace.owner() != 0) {
                table.add(new NamespaceOwner(table.newId(), namespace.number(), users.get(namespace.owner())));
            }
            namespace.lines().forEach(line -> mount(namespace, line, groups, process));
            namespace.earlier().forEach((pid, paths) -> paths
                    .forEach(path -> table.add(new EarlierPath(table.newId(), pid, path))));
        }
        Set<Integer> used = mounts.namespaces().stream().flatMap(one -> one.lines().stream())
                .flatMap(line -> Stream.of(line.group(), line.master())).collect(Collectors.toSet());
        outside().filter(line -> used.contains(line.group()))
                .forEach(line -> table
                        .add(new JobMount(table.newId(), 0, line.id(), 0, line.point(), line.point(), 0, "",
                                0, line.group(), 0, false)));
    }

    /** What a path leads to where the job was started. */
    private Stream<MountLine> outside() {
        return mounts.namespaces().isEmpty() ? Stream.of()
                : mounts.outside().stream().filter(line -> line.group() != 0
                        && MountIds.of(mounts.outsideRoot() + line.point()) == line.id());
    }

    /** Those of which a member is one of the job's. */
    private Set<Integer> groups() {
        Set<Integer> groups = outside().map(MountLine::group).collect(Collectors.toCollection(HashSet::new));
        mounts.namespaces().forEach(one -> one.lines().forEach(line -> {
            groups.add(line.group());
            if (one.owner() != 0) {
                ownGroups.add(line.group());
            }
        }));
        groups.remove(0);
        return groups;
    }

    private void filesystem(long device, JobFilesystem read, ShownPids shown) {
        long id = table.newId();
        filesystems.put(device, id);
        table.add(new JobFilesystem(id, read.fileSystem(), read.mounted(), read.settings()));
        List<Map.Entry<MountNamespace, MountLine>> all = new ArrayList<>(mounts.of(device));
        Map.Entry<MountNamespace, MountLine> first = all.getFirst();
        if (all.stream().anyMatch(one -> one.getKey().outside(one.getValue()) != null)) {
            throw first.getKey().refusal("has " + first.getValue().point() + ", a file system (" + read.fileSystem()
                    + ") of which only a part is mounted, which");
        }
        if (all.stream().noneMatch(one -> all.stream()
                .allMatch(other -> mounts.others().isWithin(other.getKey().owner(), one.getKey().owner())))) {
            throw first.getKey().refusal("has " + first.getValue().point() + ", a file system that namespaces of "
                    + "several user namespaces have, and none of one that is above these, which");
        }
        if (read.fileSystem().equals(MountRestore.QUEUES)) {
            queues(id, device, all);
        }
        long pids = read.fileSystem().equals("proc") ? shown.of(all) : ShownPids.JOBS;
        if (pids != ShownPids.JOBS) {
            mounts.others().pids().addShown(table, id, pids);
        }
    }

    /** @param emptied directories of whose contents a restart has no use */
    private void contents(long device, Set<String> emptied) {
        TmpfsReader reader = new TmpfsReader(table, filesystems.get(device), contents, quiet, emptied);
        parts(new ArrayList<>(mounts.of(device))).forEach(one -> reader.read(one.getKey(), one.getValue()));
    }

    /** Message queues: a process that is in their IPC namespace mounts them again. */
    private void queues(long id, long device, List<Map.Entry<MountNamespace, MountLine>> all) {
        IpcNamespaces ipc = mounts.others().ipc();
        long owner = ipc.ofQueues(device);
        Set<Integer> numbers = all.stream().map(one -> one.getKey().number()).collect(Collectors.toSet());
        boolean here = processes.stream().filter(process -> numbers.contains(process.mountNamespace()))
                .anyMatch(process -> ipc.id(process.ipcNamespace()) == owner
                        && (owner != 0 || IpcNamespaces.device(process) == device));
        if (!here) {
            throw all.getFirst().getKey().refusal("has " + all.getFirst().getValue().point()
                    + ", message queues of an IPC namespace in which none of its processes is, which");
        }
        if (owner != 0) {
            table.add(new IpcPlace(table.newId(), id, owner));
        }
    }

    /** Of all mounts of a file system those that together have everything that can be seen of it. */
    private static List<Map.Entry<MountNamespace, MountLine>> parts(List<Map.Entry<MountNamespace, MountLine>> all) {
        List<Map.Entry<MountNamespace, MountLine>> parts = new ArrayList<>();
        all.sort(Comparator.comparingInt(one -> one.getValue().root().length()));
        for (Map.Entry<MountNamespace, MountLine> one : all) {
            if (parts.stream().noneMatch(
                    part -> MountView.isBelow(one.getValue().root(), part.getValue().root()))) {
                parts.add(one);
            }
        }
        return parts;
    }

    private void mount(MountNamespace namespace, MountLine line, Set<Integer> groups, StoppedProcess process) {
        MountLine above = namespace.lines().stream().filter(other -> other.id() == line.parent()).findFirst()
                .orElse(null);
        String outside = namespace.outside(line);
        if (line.root().endsWith(MountNamespace.DELETED) && !namespace.isEnded(line)) {
            throw process.refuse("what is mounted at " + line.point() + " in its mount namespace was removed");
        }
        // a copy that a user namespace owns is a slave of what it was copied from
        boolean job = groups.contains(line.master()) && (namespace.owner() == 0 || ownGroups.contains(line.master()));
        int master = line.master() == 0 ? 0 : job ? line.master() : JobMount.MACHINES;
        table.add(new JobMount(table.newId(), namespace.number(), line.id(), above == null ? 0 : above.id(),
                above == null ? "/" : MountView.behind(line.point(), above.point()), outside == null ? "" : outside,
                outside == null ? filesystems.get(line.device()) : 0,
                outside == null ? line.root() : namespace.isEnded(line) ? JobMount.ENDED : "",
                line.attributes(), line.group(), master, line.unbindable()));
    }
}
