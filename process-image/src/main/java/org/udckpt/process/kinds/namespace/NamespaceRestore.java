package org.udckpt.process.kinds.namespace;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWCGROUP;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWIPC;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWTIME;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWUSER;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWUTS;
import static org.udckpt.linux.LinuxConstants.PR_SET_DUMPABLE;

import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Namespace;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.CgroupNamespace;
import org.udckpt.process.model.CgroupNamespaceMember;
import org.udckpt.process.model.IpcNamespace;
import org.udckpt.process.model.IpcNamespaceMember;
import org.udckpt.process.model.IpcSetting;
import org.udckpt.process.model.NetworkNamespaceMember;
import org.udckpt.process.model.TimeNamespace;
import org.udckpt.process.model.TimeNamespaceMember;
import org.udckpt.process.model.TimeOffsets;
import org.udckpt.process.model.UserNamespace;
import org.udckpt.process.model.UserNamespaceMember;
import org.udckpt.process.model.UtsNamespace;
import org.udckpt.process.model.UtsNamespaceMember;

/**
 * Makes namespaces other than those of mounts and processes, and lets the job's processes enter them, one level of user
 * namespaces after the other: in each a process has all capabilities until it gets those of the image.
 */
public final class NamespaceRestore implements AutoCloseable {
    /** user_namespaces(7): lines of a map. */
    static final int MOST_RANGES = 340;

    private final RestoreScope scope;
    private final IpcSettingRestore limits;
    private final UserMaps maps;
    private final UsersOfPidNamespaces born;
    private final Map<Long, UserNamespace> users = new LinkedHashMap<>();
    private final Map<Integer, Long> members = new HashMap<>();
    /** By pid, /proc as the process finds it before it is in a mount namespace of its own. */
    private final Map<Integer, Long> proc = new HashMap<>();

    /** Of an image's namespaces. */
    public NamespaceRestore(RestoreScope scope) {
        this.scope = scope;
        this.limits = new IpcSettingRestore(scope);
        this.maps = new UserMaps(scope.image().objects());
        this.born = new UsersOfPidNamespaces(scope.image());
        scope.objects(UserNamespace.class).forEach(user -> users.put(user.id(), user));
        scope.objects(UserNamespaceMember.class).forEach(member -> members.put(member.pid(), member.userNamespace()));
        Set<Integer> write = new HashSet<>(members.keySet());
        scope.objects(TimeNamespaceMember.class).forEach(member -> write.add(member.pid()));
        for (int pid : write) {
            Maker maker = scope.process(pid);
            proc.put(pid, maker.call("open /proc", Syscall.OPEN, maker.string("/proc"),
                    Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_CLOEXEC, 0));
        }
    }

    /** Whether there is nothing to make. */
    public static boolean none(RestoreScope scope) {
        return scope.objects(UserNamespaceMember.class).isEmpty() && scope.objects(UtsNamespaceMember.class).isEmpty()
                && scope.objects(TimeNamespaceMember.class).isEmpty()
                && scope.objects(IpcNamespaceMember.class).isEmpty() && scope.objects(IpcSetting.class).isEmpty()
                && scope.objects(NetworkNamespaceMember.class).isEmpty()
                && scope.objects(CgroupNamespaceMember.class).isEmpty();
    }

    /** Those above come first. */
    public List<UserNamespace> users() {
        return List.copyOf(users.values());
    }

    private boolean isIn(int pid, UserNamespace user) {
        for (long at = members.getOrDefault(pid, 0L); at != 0; at = users.get(at).parentNamespace()) {
            if (at == user.id()) {
                return true;
            }
        }
        return false;
    }

    /** Puts its processes, and those of the ones below it, into a user namespace. */
    public void enter(UserNamespace user) {
        List<Maker> entering =
                members.keySet().stream().sorted().filter(pid -> isIn(pid, user)).<Maker>map(scope::process).toList();
        if (entering.isEmpty()) {
            return;
        }
        List<Maker> outside = entering.stream().filter(maker -> !born.bornIn(maker.pid(), user)).toList();
        if (UserMaps.here(user)) {
            outside.forEach(maker -> FirstIdentity.take(maker, scope.image(), maker.pid()));
        }
        try (Namespace there = born.open(scope, user)) {
            if (there != null) {
                enter(there.descriptor(), outside, "user", CLONE_NEWUSER);
            } else {
                Maker first = outside.getFirst();
                first.call("unshare its user namespace", Syscall.UNSHARE, CLONE_NEWUSER);
                maps.write(user, first, first, proc.get(first.pid()));
                follow(first, outside, 1, "user", CLONE_NEWUSER);
            }
        }
        // who becomes another user, or one of another namespace, can be given nothing by others (pidfd_getfd(2))
        entering.forEach(maker -> maker.call("PR_SET_DUMPABLE", Syscall.PRCTL, PR_SET_DUMPABLE, 1));
    }

    /** @param from the first of all that is not in it yet */
    private void follow(Maker first, List<Maker> all, int from, String type, int flag) {
        if (all.size() == from) {
            return;
        }
        try (Namespace namespace = Namespace.of(first.hostPid(), type)) {
            enter(namespace.descriptor(), all.subList(from, all.size()), type, flag);
        }
    }

    private void enter(int namespace, List<Maker> all, String type, int flag) {
        for (Maker maker : all) {
            long given = scope.give(maker, namespace);
            maker.call("enter its " + type + " namespace", Syscall.SETNS, given, flag);
            maker.call("close", Syscall.CLOSE, given);
        }
    }

    /** Makes all other namespaces that a user namespace owns; 0: that in which the job was started. */
    public void makeOthers(long user) {
        name(user);
        new NetworkRestore(scope).make(user);
        if (user == 0) {
            limits.raise(scope.process(scope.image().processes().getFirst().pid()), 0);
        }
        for (CgroupNamespace group : scope.objects(CgroupNamespace.class)) {
            List<Maker> members = scope.objects(CgroupNamespaceMember.class).stream()
                    .filter(member -> member.cgroupNamespace() == group.id() && group.userOwner() == user)
                    .<Maker>map(member -> scope.process(member.pid())).toList();
            if (!members.isEmpty()) {
                members.getFirst().call("unshare its control groups", Syscall.UNSHARE, CLONE_NEWCGROUP);
                follow(members.getFirst(), members, 1, "cgroup", CLONE_NEWCGROUP);
            }
        }
        for (IpcNamespace ipc : scope.objects(IpcNamespace.class)) {
            if (ipc.userOwner() == user) {
                makeIpc(ipc);
            }
        }
        for (TimeNamespace clock : scope.objects(TimeNamespace.class)) {
            if (clock.userOwner() == user) {
                setClock(clock);
            }
        }
    }

    private void makeIpc(IpcNamespace ipc) {
        List<Maker> members = scope.objects(IpcNamespaceMember.class).stream()
                .filter(member -> member.ipcNamespace() == ipc.id())
                .<Maker>map(member -> scope.process(member.pid())).toList();
        if (members.isEmpty()) {
            return;
        }
        Maker first = members.getFirst();
        first.call("unshare its IPC objects", Syscall.UNSHARE, CLONE_NEWIPC);
        limits.raise(first, ipc.id());
        follow(first, members, 1, "ipc", CLONE_NEWIPC);
    }

    private void setClock(TimeNamespace clock) {
        List<TimeNamespaceMember> members = scope.objects(TimeNamespaceMember.class).stream()
                .filter(member -> member.timeNamespace() == clock.id())
                .sorted(Comparator.comparing(member -> !member.forChildren())).toList();
        if (members.isEmpty()) {
            return;
        }
        Maker first = scope.process(members.getFirst().pid());
        String file = "/proc/" + first.hostPid() + "/timens_offsets";
        String offsets = TimeOffsets.of(Proc.text(file))
                .plus(new TimeOffsets(clock.monotonicNs(), clock.boottimeNs())).text();
        first.call("unshare its clocks", Syscall.UNSHARE, CLONE_NEWTIME);
        if (User.id() == 0) { // who is in the user namespace above may write
            UserMaps.writeHere(first, "timens_offsets", offsets);
        } else {
            UserMaps.writeBy(first, proc.get(first.pid()), "self/timens_offsets", offsets);
        }
        follow(first, members.stream().<Maker>map(member -> scope.process(member.pid())).toList(),
                members.getFirst().forChildren() ? 1 : 0, "time_for_children", CLONE_NEWTIME);
    }

    private void name(long user) {
        for (UtsNamespace names : scope.objects(UtsNamespace.class)) {
            List<Maker> all = scope.objects(UtsNamespaceMember.class).stream()
                    .filter(member -> member.utsNamespace() == names.id() && names.userOwner() == user)
                    .<Maker>map(member -> scope.process(member.pid())).toList();
            if (all.isEmpty()) {
                continue;
            }
            Maker first = all.getFirst();
            first.call("unshare its host name", Syscall.UNSHARE, CLONE_NEWUTS);
            set(first, "sethostname", Syscall.SETHOSTNAME, names.hostName());
            set(first, "setdomainname", Syscall.SETDOMAINNAME, names.domainName());
            follow(first, all, 1, "uts", CLONE_NEWUTS);
        }
    }

    private static void set(Maker maker, String what, long number, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.ISO_8859_1);
        maker.call(what, number, maker.bytes(bytes), bytes.length);
    }

    @Override
    public void close() {
        proc.forEach((pid, fd) -> scope.process(pid).call("close", Syscall.CLOSE, fd));
        proc.clear();
    }
}
