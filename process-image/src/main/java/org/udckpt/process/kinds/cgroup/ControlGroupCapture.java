package org.udckpt.process.kinds.cgroup;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.GroupMember;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.MountView;

/**
 * Reads the groups in which threads are, those on the way to them, and those below that nobody is in: a job's own, with
 * which a restart begins.
 */
final class ControlGroupCapture implements KindCapture {
    private static final int WRITE = 2;

    private final CaptureScope scope;
    /** By hierarchy and path. */
    private final Map<List<String>, Long> groups = new HashMap<>();
    private final Set<List<String>> used = new HashSet<>();
    private final Map<String, Hierarchy> hierarchies = new LinkedHashMap<>();
    private final Map<String, String> starts = new HashMap<>();

    ControlGroupCapture(CaptureScope scope) {
        this.scope = scope;
    }

    private static String place(GroupMember member) {
        return member.hierarchy() + (member.below() ? ":" : ":/");
    }

    private static List<String> key(GroupMember member, String path) {
        return List.of(place(member), path);
    }

    @Override
    public void finish() {
        scope.processes().forEach(
                process -> process.groupMembers().forEach(member -> used.add(key(member, member.path()))));
        try {
            for (StoppedProcess process : scope.processes()) {
                for (GroupMember member : process.groupMembers()) {
                    read(process, member);
                }
            }
        } finally {
            hierarchies.values().forEach(Hierarchy::close);
        }
    }

    private void read(StoppedProcess process, GroupMember member) {
        String start = starts.putIfAbsent(place(member), member.start());
        if (start != null && !start.equals(member.start())) {
            throw refusal(process, member, "another rank was started in " + start);
        }
        try {
            Hierarchy hierarchy = hierarchies.computeIfAbsent(place(member),
                    _ -> Hierarchy.open(member.hierarchy(), member.start(), false));
            String directory = hierarchy.directory(member.start());
            permitted(process, member, directory + "/cgroup.procs");
            for (int at = 0; at >= 0;) {
                permitted(process, member, directory);
                at = member.path().indexOf('/', at + 1);
                String path = at < 0 ? member.path() : member.path().substring(0, at);
                directory = hierarchy.directory(MountView.joined(member.start(), path));
                if (!groups.containsKey(key(member, path))) {
                    boolean own = !path.equals("/") && used.contains(key(member, path));
                    add(process, member, directory, path, own);
                    if (own) {
                        addBelow(process, member, directory, path);
                    }
                }
            }
            permitted(process, member, directory + "/cgroup.procs");
        } catch (LinuxError e) {
            throw refusal(process, member, "it cannot be looked at: " + e.getMessage());
        }
        scope.table().add(new ControlGroupMember(scope.table().newId(), groups.get(key(member, member.path())),
                process.namespacePid(), member.tid()));
    }

    private static RuntimeException refusal(StoppedProcess process, GroupMember member, String why) {
        return process.refuse("thread " + member.tid() + " is in the control group "
                + MountView.joined(member.start(), member.path())
                + (member.hierarchy().isEmpty() ? "" : " (" + member.hierarchy() + ")")
                + ", which a restart could not make again: " + why);
    }

    /** Who is not root has to be allowed what a restart does (delegation). */
    private static void permitted(StoppedProcess process, GroupMember member, String path) {
        long result = User.id() == 0 ? 0 : Hierarchy.access(path, WRITE);
        if (result < 0) {
            throw refusal(process, member, "only root, or a user to whom it and the groups above are delegated, can; "
                    + "move it back first (cgroup.procs)");
        }
    }

    private void add(StoppedProcess process, GroupMember member, String directory, String path, boolean own) {
        Files.Stat stat = Files.stat(directory);
        long id = scope.table().newId();
        groups.put(key(member, path), id);
        if (path.equals("/")) {
            scope.table().add(new ControlGroup(id, member.hierarchy(), member.below(), path, 0, 0, 0, false));
            return;
        }
        scope.table()
                .add(new ControlGroup(id, member.hierarchy(), member.below(), path, stat.mode() & 07777, stat.uid(),
                        stat.gid(),
                        own));
        try (Folder folder = Folder.of(directory, Files.open(directory, Syscall.O_RDONLY | Syscall.O_DIRECTORY))) {
            for (String name : folder.names()) {
                Files.Stat file = folder.stat(name);
                if (file.type() == Files.Stat.REGULAR) {
                    refuseFrozen(process, member, directory, name);
                    scope.table().add(new ControlGroupFile(scope.table().newId(), id, name, file.mode() & 07777,
                            file.uid(), file.gid(), GroupSettings.isSetting(name, file) ? value(directory, name)
                                    : new byte[0]));
                }
            }
        }
    }

    private static void refuseFrozen(StoppedProcess process, GroupMember member, String directory, String file) {
        if (file.equals("cgroup.freeze") && Hierarchy.content(directory, file).startsWith("1")
                || file.equals("freezer.state") && !Hierarchy.content(directory, file).startsWith("THAWED")) {
            throw refusal(process, member, "it is frozen; thaw it first");
        }
    }

    private static byte[] value(String directory, String file) {
        try {
            return RawText.encode(String.join("\n", GroupSettings.lines(file, Hierarchy.content(directory, file))));
        } catch (LinuxError e) {
            return new byte[0]; // what is off in this kernel cannot be read
        }
    }

    /** Groups that nobody is in; others are somebody else's. */
    private void addBelow(StoppedProcess process, GroupMember member, String directory, String path) {
        try (Folder folder = Folder.of(directory, Files.open(directory, Syscall.O_RDONLY | Syscall.O_DIRECTORY))) {
            for (String name : folder.names()) {
                String below = path + "/" + name;
                String there = directory + "/" + name;
                if (folder.stat(name).type() == Files.Stat.DIRECTORY && !groups.containsKey(key(member, below))
                        && !used.contains(key(member, below)) && Hierarchy.isEmpty(there)
                        && used.stream().noneMatch(one -> one.getFirst().equals(place(member))
                                && one.getLast().startsWith(below + "/"))) {
                    add(process, member, there, below, true);
                    addBelow(process, member, there, below);
                }
            }
        }
    }
}
