package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWPID;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWUSER;
import static org.udckpt.linux.LinuxConstants.CLONE_PARENT;
import static org.udckpt.linux.LinuxConstants.PR_SET_DUMPABLE;
import static org.udckpt.linux.LinuxConstants.SIGCHLD;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Namespace;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.namespace.FirstIdentity;
import org.udckpt.process.kinds.namespace.UserMaps;
import org.udckpt.process.kinds.namespace.UsersOfPidNamespaces;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.UserNamespace;

/**
 * Makes the first process of a pid namespace. User namespaces of the job's own that own it, and that are above, are
 * made with it, or have come with another one: by a short-lived process, so that the parent itself, which may have no
 * part in them, stays where it is (clone(2), CLONE_PARENT).
 */
final class NamespaceBeginning implements AutoCloseable {
    private final JobImage image;
    private final UsersOfPidNamespaces users;
    private final UserMaps maps;
    /** By the id of a user namespace, itself. */
    private final Map<Long, Namespace> made = new HashMap<>();

    NamespaceBeginning(JobImage image) {
        this.image = image;
        this.users = new UsersOfPidNamespaces(image);
        this.maps = new UserMaps(image.objects());
    }

    /**
     * @param shared flags of clone(2)
     * @param number of the short-lived process
     */
    Tracee make(Tracee maker, Owner child, long shared, PidSpace space, int number) {
        List<UserNamespace> path = users.path(of(maker), space.namespace().userOwner());
        if (path.isEmpty()) {
            return maker.first(child, shared | CLONE_NEWPID, SIGCHLD, space);
        }
        try (Tracee between = maker.helper(number, shared)) {
            UserNamespace last = approach(between, child.pid(), path);
            long flags = shared | CLONE_NEWPID | CLONE_PARENT | (last == null ? 0 : CLONE_NEWUSER);
            Tracee first = between.first(child, flags, 0, space);
            if (last != null) {
                began(last, first, between);
            }
            between.end(0, Tracee.SAME_USER);
            maker.call("wait for a helper", Syscall.WAIT4, maker.own(number), 0, 0, 0);
            return first;
        }
    }

    /**
     * Another process of a pid namespace, whose parent is not in it, as who has entered it with setns(2) makes one: in
     * the user namespace that owns it, if the process is to be there.
     *
     * @param init the first of the namespace
     * @param number of a short-lived process
     */
    Tracee join(Tracee maker, Owner child, long shared, Tracee init, int number) {
        try (Tracee between = maker.helper(number, shared);
                Namespace namespace = Namespace.of(init.hostPid(), "pid")) {
            long user = users.knows(child.pid()) ? users.born(child.pid())
                    : User.id() == 0 ? of(maker) : init.space().namespace().userOwner(); // it ends at once
            if (user != of(maker)) {
                enter(between, made.get(user), "user", CLONE_NEWUSER);
            }
            enter(between, namespace, "pid", CLONE_NEWPID);
            Tracee joined = between.first(child, shared | CLONE_PARENT, 0, init.space());
            between.end(0, Tracee.SAME_USER);
            maker.call("wait for a helper", Syscall.WAIT4, maker.own(number), 0, 0, 0);
            return joined;
        }
    }

    /** The user namespace in which a process is; of helpers, that of their pid namespace. */
    private long of(Tracee maker) {
        return users.knows(maker.pid()) ? users.born(maker.pid())
                : maker.space() == null ? 0 : maker.space().namespace().userOwner();
    }

    /** Enters all but the last of these user namespaces, and that one, too, if it is there; else it is what is left. */
    private UserNamespace approach(Tracee between, int pid, List<UserNamespace> path) {
        int there = path.size();
        while (there > 0 && !made.containsKey(path.get(there - 1).id())) {
            there--;
        }
        if (there > 0) {
            enter(between, made.get(path.get(there - 1).id()), "user", CLONE_NEWUSER);
        } else if (User.id() == 0 && path.getFirst().parentNamespace() == 0) {
            FirstIdentity.take(between, image, pid);
        }
        for (UserNamespace next : path.subList(there, Math.max(there, path.size() - 1))) {
            between.call("unshare its user namespace", Syscall.UNSHARE, CLONE_NEWUSER);
            began(next, between, between);
        }
        return there == path.size() ? null : path.getLast();
    }

    /** @param writer a process of the namespace above, or the first itself */
    private void began(UserNamespace user, Tracee first, Tracee writer) {
        first.call("PR_SET_DUMPABLE", Syscall.PRCTL, PR_SET_DUMPABLE, 1); // its files in /proc are its own then
        maps.write(user, first, writer);
        made.put(user.id(), Namespace.of(first.hostPid(), "user"));
    }

    private static void enter(Tracee tracee, Namespace namespace, String type, long flag) {
        long given = Handover.give(tracee, List.of(namespace.descriptor()))[0];
        tracee.call("enter its " + type + " namespace", Syscall.SETNS, given, flag);
        tracee.call("close", Syscall.CLOSE, given);
    }

    @Override
    public void close() {
        made.values().forEach(Namespace::close);
        made.clear();
    }
}
