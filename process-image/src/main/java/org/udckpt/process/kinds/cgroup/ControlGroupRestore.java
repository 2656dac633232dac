package org.udckpt.process.kinds.cgroup;

import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.AT_REMOVEDIR;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.MountView;

/**
 * Makes groups where they are gone, below the group that the restarted job is in or where they were, and puts threads
 * into them. A group that is there and has processes is somebody's: it stays as it is. Limits come last, when nothing
 * is made any more that they could hinder.
 */
final class ControlGroupRestore implements KindRestore<ControlGroup> {
    private static final int ROUNDS = 1000, MOMENT_MS = 2;

    private final RestoreScope scope;
    private final Map<String, Hierarchy> hierarchies = new LinkedHashMap<>();
    /** By hierarchy: the group that the restarted job is in, or "/". */
    private final Map<String, String> starts = new HashMap<>();
    private final Map<Long, ControlGroup> groups = new LinkedHashMap<>();
    private final Map<Long, List<ControlGroupFile>> files = new HashMap<>();
    /** Their directories: those that this restart has made, and then those that it may change. */
    private final List<String> made = new ArrayList<>();
    private final List<ControlGroup> changed = new ArrayList<>();

    ControlGroupRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void enter() {
        List<ControlGroupMember> members = scope.objects(ControlGroupMember.class);
        if (members.isEmpty()) {
            return;
        }
        Maker first = scope.process(members.getFirst().pid());
        scope.objects(ControlGroupFile.class)
                .forEach(file -> files.computeIfAbsent(file.group(), _ -> new ArrayList<>()).add(file));
        scope.objects(ControlGroup.class).stream()
                .sorted(Comparator.comparingInt((ControlGroup group) -> group.path().length()))
                .forEach(group -> {
                    groups.put(group.id(), group);
                    makeGroup(first, group);
                });
        movePids(members, false);
    }

    /** @param late those that may open fewer devices then: when all are open */
    private void movePids(List<ControlGroupMember> members, boolean late) {
        members.stream().filter(member -> member.tid() == member.pid()
                && late == groups.get(member.group()).hierarchy().contains("devices")).forEach(member -> {
                    Maker maker = scope.process(member.pid());
                    move(maker, member, "cgroup.procs", maker.hostPid());
                });
    }

    private static String place(ControlGroup group) {
        return group.hierarchy() + (group.below() ? ":" : ":/");
    }

    private void reach(Maker maker, ControlGroup group) {
        String name = group.hierarchy();
        String start = !group.below() ? "/" : Proc.text("/proc/" + maker.hostPid() + "/cgroup").lines()
                .filter(line -> Hierarchy.name(line).equals(name)).findFirst()
                .map(line -> line.substring(line.indexOf(':', line.indexOf(':') + 1) + 1)).orElse("/");
        try {
            hierarchies.put(place(group), Hierarchy.open(name, start, true));
        } catch (LinuxError e) {
            throw maker.unsupported("a hierarchy of control groups that the job has used, "
                    + (name.isEmpty() ? "version 2" : name) + ", is not here: " + e.getMessage()
                    + "; mount it first");
        }
        starts.put(place(group), start);
    }

    private String path(ControlGroup group) {
        return MountView.joined(starts.get(place(group)), group.path());
    }

    private String directory(ControlGroup group) {
        return hierarchies.get(place(group)).directory(path(group));
    }

    private String name(ControlGroup group) {
        return path(group) + (group.hierarchy().isEmpty() ? "" : " (" + group.hierarchy() + ")");
    }

    private void makeGroup(Maker maker, ControlGroup group) {
        if (!hierarchies.containsKey(place(group))) {
            reach(maker, group);
        }
        String directory = directory(group);
        if (!group.below() && !group.own()) { // the machine's
            if (Files.tryStat(directory) == null) {
                throw maker.unsupported("control group " + name(group) + ", in which the job had one, is not here; "
                        + "make it first");
            }
            return;
        }
        int error = Hierarchy.make(directory);
        if (error == 0) {
            made.add(directory);
            change(maker, group);
        } else if (error != LinuxError.EEXIST) {
            throw maker.failed("control group " + name(group) + " cannot be made: " + LinuxError.name(error));
        } else if (group.own() && Hierarchy.isEmpty(directory)) {
            change(maker, group);
        }
    }

    /** Devices are denied only as long as nothing is below (Documentation/admin-guide/cgroup-v1/devices.rst). */
    private void change(Maker maker, ControlGroup group) {
        changed.add(group);
        set(maker, group, true);
    }

    private void move(Maker maker, ControlGroupMember member, String file, int number) {
        ControlGroup group = groups.get(member.group());
        int error = Hierarchy.write(directory(group), file, Integer.toString(number));
        if (error != 0) {
            throw maker.failed("thread " + member.tid() + " cannot be put into control group " + name(group) + ": "
                    + LinuxError.name(error));
        }
    }

    /** Some can be set only after others: as long as one helps, the rest is tried again. */
    private void set(Maker maker, ControlGroup group, boolean first) {
        List<ControlGroupFile> wanted = files.getOrDefault(group.id(), List.of()).stream()
                .filter(file -> file.value().length > 0 && GroupSettings.isFirst(file.file()) == first).toList();
        int left = Integer.MAX_VALUE;
        for (String refused = null;; refused = null) {
            int orders = 0;
            for (ControlGroupFile file : wanted) {
                for (GroupSettings.Order order : orders(maker, group, file)) {
                    orders++;
                    int error = Hierarchy.write(directory(group), order.file(), order.text());
                    refused =
                            error == 0 ? refused : order.file() + " = " + order.text() + ": " + LinuxError.name(error);
                }
            }
            if (orders == 0) {
                return;
            }
            if (orders >= left) {
                throw maker.failed("control group " + name(group) + " cannot be made as it was: "
                        + (refused != null ? refused : "its settings do not last")
                        + "; make it yourself, with these settings");
            }
            left = orders;
        }
    }

    private List<GroupSettings.Order> orders(Maker maker, ControlGroup group, ControlGroupFile file) {
        try {
            return GroupSettings.orders(file.file(), RawText.decode(file.value()).lines().toList(),
                    GroupSettings.lines(file.file(), Hierarchy.content(directory(group), file.file())));
        } catch (LinuxError e) {
            throw maker.failed("control group " + name(group) + " has no " + file.file() + " here ("
                    + LinuxError.name(e.errno()) + "): the controller is not enabled in the group above");
        }
    }

    @Override
    public void complete() {
        if (groups.isEmpty()) {
            return;
        }
        List<ControlGroupMember> members = scope.objects(ControlGroupMember.class);
        movePids(members, true);
        for (ControlGroupMember member : members) {
            if (member.tid() != member.pid()) {
                Maker maker = scope.process(member.pid());
                boolean second = groups.get(member.group()).hierarchy().isEmpty();
                move(maker, member, second ? "cgroup.threads" : "tasks", hostThread(maker, member.tid()));
            }
        }
        Maker any = scope.process(members.getFirst().pid());
        changed.forEach(group -> set(any, group, false));
        try {
            changed.forEach(this::permit);
        } catch (LinuxError e) {
            throw any.failed("a control group cannot be given to whom it belonged: " + e.getMessage());
        }
        hierarchies.values().forEach(Hierarchy::close);
        hierarchies.clear();
    }

    private static int hostThread(Maker maker, int tid) {
        for (int thread : Proc.threads(maker.hostPid())) {
            String[] numbers = Proc.field(Proc.text("/proc/" + maker.hostPid() + "/task/" + thread + "/status"),
                    "NSpid:").split("\\s+");
            if (numbers[numbers.length - 1].equals(Integer.toString(maker.own(tid)))) {
                return thread;
            }
        }
        throw maker.failed("thread " + tid + " is not there");
    }

    private void permit(ControlGroup group) {
        String directory = directory(group);
        for (ControlGroupFile file : files.getOrDefault(group.id(), List.of())) {
            String path = directory + "/" + file.file();
            if (Files.tryStat(path) != null) { // a counter of another kernel
                permit(path, file.mode(), file.uid(), file.gid());
            }
        }
        permit(directory, group.mode(), group.uid(), group.gid());
    }

    private static void permit(String path, int mode, int uid, int gid) {
        Files.Stat stat = Files.stat(path);
        if ((stat.mode() & 07777) != mode || stat.uid() != uid || stat.gid() != gid) {
            int fd = Files.open(path, Syscall.O_PATH);
            try {
                Files.attributes(fd, path, uid, gid, mode, 0);
            } finally {
                Files.close(fd);
            }
        }
    }

    /** A process that was killed may be on its way out yet. */
    @Override
    public void undo() {
        for (String directory : made.reversed()) {
            long result = -LinuxError.EBUSY;
            for (int round = 0; result == -LinuxError.EBUSY && round < ROUNDS; round++) {
                result = Syscall.call(Syscall.UNLINKAT, AT_FDCWD, Scratch.string(directory), AT_REMOVEDIR);
                if (result == -LinuxError.EBUSY) {
                    java.util.concurrent.locks.LockSupport.parkNanos(MOMENT_MS * 1_000_000L);
                }
            }
        }
        hierarchies.values().forEach(Hierarchy::close);
        hierarchies.clear();
    }
}
