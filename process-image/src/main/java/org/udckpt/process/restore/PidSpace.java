package org.udckpt.process.restore;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNumbers;

/** The numbers of a pid namespace of the job's own, while processes are made in it. */
final class PidSpace {
    private static final int FIRST_FREE = 300;

    private final PidNamespace namespace;
    /** Null: the job's. */
    private final PidSpace above;
    /** By the job's. */
    private final Map<Integer, Integer> numbers = new HashMap<>();
    private final Set<Integer> taken = new HashSet<>();
    private Tracee helper;

    /** @param above that of the namespace in which it is; null: that in which the job is started */
    PidSpace(PidNamespace namespace, PidNumbers all, PidSpace above) {
        this.namespace = namespace;
        this.above = above;
        all.members(namespace).forEach(member -> {
            numbers.put(member.pid(), member.inner());
            taken.add(member.inner());
        });
    }

    PidNamespace namespace() {
        return namespace;
    }

    PidSpace above() {
        return above;
    }

    /** What the namespace calls something; 0: it does not know it. */
    int inner(int pid) {
        return numbers.getOrDefault(pid, 0);
    }

    /** What this namespace calls something, what the ones above it do, and the job. */
    int[] all(int pid) {
        int[] outer = above == null ? new int[]{pid} : above.all(pid);
        return IntStream.concat(IntStream.of(inner(pid)), IntStream.of(outer)).toArray();
    }

    /** A process that is none of the image's gets a number that nothing of the namespace has, and of those above it. */
    void give(int pid) {
        for (int next = FIRST_FREE; !numbers.containsKey(pid); next++) {
            if (taken.add(next)) {
                numbers.put(pid, next);
            }
        }
        if (above != null) {
            above.give(pid);
        }
    }

    /**
     * A process of the namespace that keeps the capabilities in the user namespace which owns it, while others may lose
     * them by entering one below.
     */
    void helper(Tracee tracee) {
        helper = tracee;
    }

    Tracee helper() {
        return helper;
    }

    /** The next process or thread of the namespace gets the number that follows. */
    void last(Tracee asking, int pid) {
        if (helper == null) {
            throw asking.failed("the image is inconsistent: it may not choose numbers in its pid namespace");
        }
        String number = Integer.toString(pid);
        long fd = helper.call("open ns_last_pid", Syscall.OPEN, helper.string("/proc/sys/kernel/ns_last_pid"),
                Syscall.O_WRONLY | Syscall.O_CLOEXEC, 0);
        helper.call("write ns_last_pid", Syscall.WRITE, fd, helper.string(number), number.length());
        helper.call("close", Syscall.CLOSE, fd);
    }
}
