package org.udckpt.process.names;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.UnixDiag;

/** Which process uses a file or socket, as far as this user may see: root sees all. */
public final class Holders {
    /** A process that was killed lets go of what it had in a moment. */
    private static final long ENDING_NS = 1_000_000_000L;
    private static final int PAUSE_MS = 20;

    private Holders() {}

    /** A holder that keeps something in use; null: there is none, or none any more a moment later. */
    public static String still(Supplier<String> holder) {
        long until = System.nanoTime() + ENDING_NS;
        String now = holder.get();
        while (now != null && System.nanoTime() < until) {
            LockSupport.parkNanos(PAUSE_MS * 1_000_000L);
            now = holder.get();
        }
        return now;
    }

    /**
     * A holder of one of these sockets (of /proc/net or sock_diag(7)): {@code process 12 (name)}; else {@code
     * somebody}.
     */
    public static String ofSockets(List<Long> inodes) {
        List<String> links = inodes.stream().map(inode -> "socket:[" + inode + "]").toList();
        String found = process(pid -> Arrays.stream(Proc.descriptors(pid))
                .anyMatch(fd -> links.contains(Files.readLink("/proc/" + pid + "/fd/" + fd))));
        return found == null ? "a process that is not visible to this user" : found;
    }

    /** The process that is bound to an abstract name; null: none. */
    static String ofAbstractName(byte[] name) {
        try (UnixDiag sockets = new UnixDiag()) {
            List<Long> inodes = sockets.all().stream().filter(one -> Arrays.equals(one.name(), name))
                    .map(one -> Integer.toUnsignedLong(one.inode())).toList();
            return inodes.isEmpty() ? null : ofSockets(inodes);
        }
    }

    /** The process that is bound to a socket's file. */
    static String ofSocketFile(Files.Stat file) {
        try (UnixDiag sockets = new UnixDiag()) {
            return ofSockets(sockets.all().stream().filter(one -> one.isAt(file))
                    .map(one -> Integer.toUnsignedLong(one.inode())).toList());
        }
    }

    private static String process(Predicate<Integer> uses) {
        for (int pid : Proc.numbers("/proc")) {
            if (ofProcess(pid, uses)) {
                return named(pid);
            }
        }
        return null;
    }

    /** False also where the process has ended, or is another user's. */
    static boolean ofProcess(int pid, Predicate<Integer> uses) {
        try {
            return uses.test(pid);
        } catch (LinuxError gone) {
            if (gone.errno() != LinuxError.ENOENT && gone.errno() != LinuxError.ESRCH
                    && gone.errno() != LinuxError.EACCES && gone.errno() != LinuxError.EPERM) {
                throw gone;
            }
            return false;
        }
    }

    static String named(int pid) {
        String[] name = {"ended"};
        ofProcess(pid, _ -> {
            name[0] = Proc.text("/proc/" + pid + "/comm").strip();
            return true;
        });
        return "process " + pid + " (" + name[0] + ")";
    }
}
