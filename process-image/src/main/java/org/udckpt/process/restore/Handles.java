package org.udckpt.process.restore;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * Which puppet holds which kernel object, under which temporary descriptor number. An object is made once; a second
 * process gets the same open file description by pidfd_getfd(2), as if it had been inherited. Temporary numbers lie
 * above all of the job's, and are closed in the end.
 */
final class Handles {
    private final int base;
    /** object id -> (puppet -> temporary descriptor), the maker first */
    private final Map<Long, Map<Puppet, Long>> held = new HashMap<>();

    /** @param base one more than the highest descriptor of the job */
    Handles(int base) {
        this.base = base;
    }

    int base() {
        return base;
    }

    /** Takes a descriptor that {@code puppet} has just opened; returns its temporary number. */
    long add(Puppet puppet, long id, long fd) {
        long moved = lift(puppet, fd);
        held.computeIfAbsent(id, key -> new LinkedHashMap<>()).put(puppet, moved);
        return moved;
    }

    /** Moves a descriptor out of the way of the job's numbers. */
    long lift(Puppet puppet, long fd) {
        long moved = puppet.tryCall(Syscall.FCNTL, fd, 1030 /* F_DUPFD_CLOEXEC */, base);
        if (moved < 0) {
            throw puppet.failed("no descriptor number from " + base + " on is free for the restore (" + LinuxError.name((int) -moved)
                    + "); raise the hard limit of open files (ulimit -Hn)");
        }
        puppet.call("close", Syscall.CLOSE, fd);
        return moved;
    }

    boolean known(long id) {
        return held.containsKey(id);
    }

    /** The object's temporary descriptor in {@code puppet}, fetched from its maker when needed. */
    long in(Puppet puppet, long id) {
        Map<Puppet, Long> holders = held.get(id);
        if (holders == null) {
            throw puppet.failed("object " + id + " of the image is used before it was made");
        }
        Long own = holders.get(puppet);
        if (own != null) {
            return own;
        }
        Map.Entry<Puppet, Long> maker = holders.entrySet().iterator().next();
        return add(puppet, id, fetch(puppet, maker.getKey().pid(), maker.getValue()));
    }

    /** pidfd_getfd(2) inside of the puppet, from process {@code pid} of its own namespace. */
    static long fetch(Puppet puppet, int pid, long descriptor) {
        long handle = puppet.call("pidfd_open " + pid, Syscall.PIDFD_OPEN, pid, 0);
        long fd = puppet.call("pidfd_getfd " + descriptor + " of process " + pid, Syscall.PIDFD_GETFD, handle, descriptor, 0);
        puppet.call("close", Syscall.CLOSE, handle);
        return fd;
    }

    void closeTemporaries(Puppet puppet) {
        puppet.call("close the restore's descriptors", Syscall.CLOSE_RANGE, base, 0xffffffffL, 0);
    }
}
