package org.udckpt.process.kinds.namespace;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Namespace;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.TimeNamespace;
import org.udckpt.process.model.TimeNamespaceMember;
import org.udckpt.process.model.TimeOffsets;
import org.udckpt.process.model.UserNamespace;
import org.udckpt.process.model.UserNamespaceMember;
import org.udckpt.process.model.UtsNamespace;
import org.udckpt.process.model.UtsNamespaceMember;

/**
 * The user, UTS, IPC and time namespaces that a job which stands still has made. Namespaces are known by the kernel's
 * numbers; 0 is the user namespace in which the job was started. Any thread.
 */
public final class JobNamespaces implements AutoCloseable {
    /** user_namespaces(7): nested no deeper. */
    private static final int DEEPEST = 32;
    private static final String USER = "user", HOST = "uts", TIME = "time", FOR_CHILDREN = "time_for_children";
    /** struct utsname: six texts of this size, nodename the second and domainname the last. */
    private static final int TEXT = 65, TEXTS = 6, NODE = 1, DOMAIN = 5;
    /** What the kernel shows for who has no number. */
    private static final int NOBODY = -1;

    private static final class User {
        final long number;
        final long parent;
        final int maker;
        int[] users;
        int[] groups;
        /** The same maps with numbers of the namespace above. */
        int[] usersAbove;
        int[] groupsAbove;
        boolean denied;

        User(long number, long parent, int maker) {
            this.number = number;
            this.parent = parent;
            this.maker = maker;
        }
    }

    private static final class Clock {
        final long owner;
        final TimeOffsets ahead;
        final List<StoppedProcess> members = new ArrayList<>();
        StoppedProcess forChildren;

        Clock(long owner, TimeOffsets ahead) {
            this.owner = owner;
            this.ahead = ahead;
        }
    }

    private record Names(long owner, List<AskedProcess> members, String[] texts) {}

    /** Those above come first. */
    private final Map<Long, User> users = new LinkedHashMap<>();
    private final Map<StoppedProcess, Long> members = new LinkedHashMap<>();
    private final Map<Long, Names> names = new LinkedHashMap<>();
    private final Map<Long, Clock> clocks = new LinkedHashMap<>();
    private final IpcNamespaces ipc = new IpcNamespaces();
    private final CgroupNamespaces groups = new CgroupNamespaces(this);
    private final JobNetworks networks = new JobNetworks();
    private final JobPidNamespaces pids = new JobPidNamespaces(this);

    /**
     * The user namespace of a process that has left the one in which the job was started.
     *
     * @param started a process in that one
     * @throws RuntimeException the refusal: a restart could not make it again
     */
    public synchronized void entered(StoppedProcess process, int started) {
        try (Namespace own = Namespace.of(process.task(), USER)) {
            long number = known(process, own, started, 0);
            User user = users.get(number);
            if (user.users == null) {
                user.users = map(process, "uid_map");
                user.groups = map(process, "gid_map");
                user.usersAbove = user.parent == 0 ? user.users : above(process, own, "uid_map");
                user.groupsAbove = user.parent == 0 ? user.groups : above(process, own, "gid_map");
                user.denied = Proc.text("/proc/" + process.task() + "/setgroups").strip().equals("deny");
            }
            refuseOtherMaker(process, user);
            members.put(process, number);
        } catch (LinuxError e) {
            throw process.refuse("it is in a user namespace of its own (unshare(2), a container), which cannot be "
                    + "looked at: " + e.getMessage());
        }
    }

    /** A restart lets the process make it, as who it is: with a number that the namespace may have none for. */
    private void refuseOtherMaker(StoppedProcess process, User user) {
        User top = user;
        while (top.parent != 0) {
            top = users.get(top.parent);
        }
        String effective = Proc.field(Proc.text("/proc/" + process.task() + "/status"), "Uid:").split("\\s+")[1];
        if (!effective.equals(Integer.toUnsignedString(top.maker))) {
            throw process.refuse("it runs as user " + effective + " in a user namespace that user "
                    + Integer.toUnsignedString(top.maker) + " has made, which cannot be checkpointed");
        }
    }

    private long known(StoppedProcess process, Namespace at, int started, int depth) {
        try (Namespace first = Namespace.of(started, USER)) {
            if (at.number() == first.number()) {
                return 0;
            }
        }
        if (users.containsKey(at.number())) {
            return at.number();
        }
        try (Namespace parent = at.parent()) {
            if (parent == null || depth == DEEPEST) {
                throw process.refuse("it is in a user namespace that was not made by the job, which cannot be "
                        + "checkpointed");
            }
            long above = known(process, parent, started, depth + 1);
            users.put(at.number(), new User(at.number(), above, at.maker()));
            return at.number();
        }
    }

    private static int[] map(StoppedProcess process, String file) {
        int[] map = ranges(Proc.text("/proc/" + process.task() + "/" + file));
        for (int i = 1; i < map.length; i += 3) {
            if (map[i] == NOBODY) {
                throw process.refuse("its user namespace has users or groups that this process has not (" + file
                        + "), which cannot be checkpointed");
            }
        }
        return map;
    }

    /** As the process itself reads it. */
    private static int[] above(StoppedProcess process, Namespace own, String file) {
        return ranges(own.textInside("/proc/" + process.task() + "/" + file));
    }

    private static int[] ranges(String text) {
        return text.strip().lines().flatMap(line -> Stream.of(line.strip().split("\\s+")))
                .mapToInt(Integer::parseUnsignedInt).toArray();
    }

    /**
     * The user namespace that owns a namespace of the process.
     *
     * @param type of the namespace, as /proc/PID/ns names it
     */
    public synchronized long owner(StoppedProcess process, String type, int started) {
        try (Namespace own = Namespace.of(process.task(), type)) {
            return owner(process, type, own, started);
        }
    }

    /** The same of one that the process is in, or below. */
    synchronized long owner(StoppedProcess process, String type, Namespace namespace, int started) {
        try (Namespace owner = namespace.owner()) {
            if (owner == null) {
                throw process.refuse("it is in a " + type + " namespace that was not made by the job, which cannot be "
                        + "checkpointed");
            }
            return known(process, owner, started, 0);
        }
    }

    /** The user namespace in which a process is. */
    synchronized long of(StoppedProcess process, int started) {
        try (Namespace own = Namespace.of(process.task(), USER)) {
            return known(process, own, started, 0);
        }
    }

    /** Whether a user namespace is another one, or below it. */
    public synchronized boolean isWithin(long number, long other) {
        long at = number;
        while (at != other && at != 0) {
            at = users.get(at).parent;
        }
        return at == other;
    }

    /** The network namespaces. */
    public JobNetworks networks() {
        return networks;
    }

    /** Those of process numbers. */
    public JobPidNamespaces pids() {
        return pids;
    }

    /** A process that has left the UTS namespace in which the job was started. */
    public synchronized void named(AskedProcess process, int started) {
        try (Namespace own = Namespace.of(process.task(), HOST)) {
            long owner = owner(process, HOST, started);
            names.computeIfAbsent(own.number(),
                    _ -> new Names(owner, new ArrayList<>(), new String[2])).members.add(process);
        }
    }

    /** A process that has left the IPC namespace in which the job was started: the number of its own. */
    public synchronized long inIpcNamespace(StoppedProcess process, int started) {
        return ipc.entered(process, owner(process, "ipc", started));
    }

    /** Those of control groups. */
    public CgroupNamespaces controlGroups() {
        return groups;
    }

    /** The IPC namespaces. */
    public IpcNamespaces ipc() {
        return ipc;
    }

    /**
     * A process that has left the time namespace in which the job was started, or whose children will be in another
     * one. What /proc tells are the offsets of that one.
     */
    public synchronized void timed(StoppedProcess process, int started) {
        try (Namespace own = Namespace.of(process.task(), TIME);
                Namespace children = Namespace.of(process.task(), FOR_CHILDREN);
                Namespace first = Namespace.of(started, TIME)) {
            boolean entered = own.number() != first.number();
            if (entered && own.number() != children.number()) {
                throw process.refuse("it is in a time namespace of its own, and its children will be in another one, "
                        + "which cannot be checkpointed");
            }
            long owner = owner(process, FOR_CHILDREN, started);
            TimeOffsets ahead = offsets(process.task()).minus(offsets(started));
            Clock clock = clocks.computeIfAbsent(children.number(), _ -> new Clock(owner, ahead));
            if (entered) {
                clock.members.add(process);
            } else if (clock.forChildren == null) {
                clock.forChildren = process;
            } else {
                throw process.refuse("its children will be in a time namespace of another process, which cannot be "
                        + "checkpointed");
            }
        }
    }

    private static TimeOffsets offsets(int pid) {
        return TimeOffsets.of(Proc.text("/proc/" + pid + "/timens_offsets"));
    }

    /** Asks for names, in processes of which the caller is the tracer. */
    public synchronized void ask(List<? extends AskedProcess> processes) {
        for (Names one : names.values()) {
            one.members.stream().filter(processes::contains).findFirst().ifPresent(process -> {
                LinuxError.check(process.tryCall(Syscall.UNAME, process.results()), "uname in " + process);
                byte[] read = process.read(process.results(), TEXT * TEXTS);
                one.texts[0] = text(read, NODE);
                one.texts[1] = text(read, DOMAIN);
            });
        }
    }

    private static String text(byte[] read, int number) {
        int length = 0;
        while (length < TEXT && read[number * TEXT + length] != 0) {
            length++;
        }
        return new String(read, number * TEXT, length, StandardCharsets.ISO_8859_1);
    }

    /** The records; by number, the id of a user namespace's. */
    public synchronized Map<Long, Long> add(ObjectTable table) {
        Map<Long, Long> ids = new HashMap<>();
        ids.put(0L, 0L);
        users.values().stream().toList().reversed().forEach(this::withoutMembers);
        for (User user : users.values()) {
            long id = table.newId();
            ids.put(user.number, id);
            table.add(new UserNamespace(id, ids.get(user.parent), user.maker, user.users, user.groups, user.denied));
        }
        members.forEach((process, number) -> table
                .add(new UserNamespaceMember(table.newId(), process.namespacePid(), ids.get(number))));
        for (Names one : names.values()) {
            long id = table.newId();
            table.add(new UtsNamespace(id, ids.get(one.owner), one.texts[0], one.texts[1]));
            one.members.forEach(
                    process -> table.add(new UtsNamespaceMember(table.newId(), process.namespacePid(), id)));
        }
        ipc.add(table, ids);
        groups.add(table, ids);
        for (Clock clock : clocks.values()) {
            long id = table.newId();
            table.add(new TimeNamespace(id, ids.get(clock.owner), clock.ahead.monotonicNs(),
                    clock.ahead.boottimeNs()));
            if (clock.forChildren != null) {
                table.add(new TimeNamespaceMember(table.newId(), clock.forChildren.namespacePid(), id, true));
            }
            clock.members.forEach(
                    process -> table.add(new TimeNamespaceMember(table.newId(), process.namespacePid(), id, false)));
        }
        pids.add(table, ids);
        return ids;
    }

    @Override
    public void close() {
        ipc.close();
        networks.close();
    }

    /** Nobody is in it any more: those below tell which numbers it has for their users. */
    private void withoutMembers(User user) {
        if (user.users == null) {
            List<User> below = users.values().stream().filter(other -> other.parent == user.number).toList();
            user.users = of(below, other -> other.users, other -> other.usersAbove);
            user.groups = of(below, other -> other.groups, other -> other.groupsAbove);
            user.usersAbove = user.users;
            user.groupsAbove = user.groups;
            user.denied = below.stream().anyMatch(other -> other.denied);
        }
    }

    private static int[] of(List<User> below, Function<User, int[]> outside, Function<User, int[]> above) {
        Set<List<Integer>> ranges = new LinkedHashSet<>();
        for (User user : below) {
            int[] out = outside.apply(user);
            for (int i = 0; i < out.length; i += 3) {
                ranges.add(List.of(above.apply(user)[i + 1], out[i + 1], out[i + 2]));
            }
        }
        return ranges.stream().flatMap(List::stream).mapToInt(Integer::intValue).toArray();
    }
}
