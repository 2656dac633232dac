package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWPID;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWUSER;
import static org.udckpt.linux.LinuxConstants.CLONE_PARENT;
import static org.udckpt.linux.LinuxConstants.SIGCHLD;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.namespace.FirstIdentity;
import org.udckpt.process.model.JobImage;

/**
 * Makes the first process of a pid namespace. A user namespace of the job's own that owns it is made with it, or has
 * come with another one: by a short-lived process, so that the parent itself, which may have no part in the user
 * namespace, stays where it is (clone(2), CLONE_PARENT).
 */
final class NamespaceBeginning {
    private final JobImage image;
    /** By the id of a user namespace, a process that is in it already. */
    private final Map<Long, Tracee> users = new HashMap<>();

    NamespaceBeginning(JobImage image) {
        this.image = image;
    }

    /**
     * @param shared flags of clone(2)
     * @param number of the short-lived process
     */
    Tracee make(Tracee maker, Owner child, long shared, PidSpace space, int number) {
        long owner = space.namespace().userOwner();
        if (owner == 0) {
            return maker.first(child, shared | CLONE_NEWPID, SIGCHLD, space);
        }
        try (Tracee between = maker.helper(number, shared)) {
            boolean there = users.containsKey(owner);
            if (there) {
                enter(between, users.get(owner));
            } else if (User.id() == 0) {
                FirstIdentity.take(between, image, child.pid());
            }
            long flags = shared | CLONE_NEWPID | CLONE_PARENT | (there ? 0 : CLONE_NEWUSER);
            Tracee first = between.first(child, flags, 0, space);
            users.putIfAbsent(owner, first);
            between.end(0, Tracee.SAME_USER);
            maker.call("wait for a helper", Syscall.WAIT4, number, 0, 0, 0);
            return first;
        }
    }

    private static void enter(Tracee tracee, Tracee member) {
        int namespace = Files.open("/proc/" + member.hostPid() + "/ns/user", Syscall.O_RDONLY);
        try {
            long given = Handover.give(tracee, List.of(namespace))[0];
            tracee.call("enter its user namespace", Syscall.SETNS, given, CLONE_NEWUSER);
            tracee.call("close", Syscall.CLOSE, given);
        } finally {
            Files.close(namespace);
        }
    }
}
