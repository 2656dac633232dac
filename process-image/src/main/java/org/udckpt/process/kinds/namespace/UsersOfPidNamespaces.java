package org.udckpt.process.kinds.namespace;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Namespace;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNumbers;
import org.udckpt.process.model.UserNamespace;
import org.udckpt.process.model.UserNamespaceMember;

/**
 * The user namespaces that own pid namespaces of an image, and those above them: a restart makes them with the
 * processes, so that each process of such a pid namespace has been in its user namespace from the beginning.
 */
public final class UsersOfPidNamespaces {
    private final Map<Long, UserNamespace> users = new LinkedHashMap<>();
    private final Map<Integer, Long> members = new HashMap<>();
    private final Map<Integer, Integer> parents = new HashMap<>();
    private final PidNumbers numbers;

    /** Of an image. */
    public UsersOfPidNamespaces(JobImage image) {
        this.numbers = PidNumbers.of(image.objects());
        image.processes().forEach(process -> parents.put(process.pid(), process.parentPid()));
        for (KernelObject object : image.objects()) {
            if (object instanceof UserNamespace user) {
                users.put(user.id(), user);
            } else if (object instanceof UserNamespaceMember member) {
                members.put(member.pid(), member.userNamespace());
            }
        }
    }

    /** Whether the image has this process. */
    public boolean knows(int pid) {
        return parents.containsKey(pid);
    }

    /** The user namespace in which a process of the image is made; 0: the job's. */
    public long born(int pid) {
        PidNamespace its = numbers.of(pid);
        if (its == null || !knows(pid)) {
            return 0;
        }
        boolean outside = numbers.isFromOutside(pid, parents.get(pid));
        if (numbers.begunBy(pid) != null
                || outside && isWithin(members.getOrDefault(pid, 0L), its.userOwner())) {
            return its.userOwner();
        }
        return born(parents.get(pid));
    }

    private boolean isWithin(long user, long other) {
        return other == 0 || path(0, user).contains(users.get(other));
    }

    /** A user namespace and those above it, the outermost first, below another one. @param below 0: the job's */
    public List<UserNamespace> path(long below, long user) {
        LinkedList<UserNamespace> path = new LinkedList<>();
        for (long at = user; at != below; at = users.get(at).parentNamespace()) {
            path.addFirst(users.get(at));
        }
        return path;
    }

    /** Whether a process has been in a user namespace, or in one below it, from the beginning. */
    boolean bornIn(int pid, UserNamespace user) {
        return path(0, born(pid)).contains(user);
    }

    /** The user namespace, before processes enter others below it; null: it is not made with the processes. */
    Namespace open(RestoreScope scope, UserNamespace user) {
        for (PidNamespace one : numbers.namespaces()) {
            List<UserNamespace> path = path(0, one.userOwner());
            if (path.contains(user)) {
                Maker init = scope.process(one.init());
                return above(Namespace.of(init.hostPid(), "user"), path.size() - 1 - path.indexOf(user));
            }
        }
        return null;
    }

    private static Namespace above(Namespace namespace, int levels) {
        Namespace at = namespace;
        for (int i = 0; i < levels; i++) {
            try (Namespace below = at) {
                at = below.parent();
            }
        }
        return at;
    }
}
