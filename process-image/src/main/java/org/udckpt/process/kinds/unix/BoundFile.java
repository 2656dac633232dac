package org.udckpt.process.kinds.unix;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.UnixDiag;
import org.udckpt.process.kinds.base.OpenedByName;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.JobName.SocketFile;

/**
 * Where the name of a bound unix socket stands. What the program said to bind(2) does not tell it: it may have been
 * relative to a directory that the program has left, or behind a symbolic link, and the name may have been moved or
 * removed since.
 */
final class BoundFile {
    /**
     * Gives a descriptor of the file of a bound socket (linux/un.h); needs CAP_NET_ADMIN over the network namespace.
     */
    private static final int SIOCUNIXFILE = 0x89e0;
    private static final int MOST_NAMES = 10_000;
    private static final String DELETED = " (deleted)";

    private BoundFile() {}

    /** Asks the kernel. Null: this user may not. */
    static SocketFile ask(StoppedProcess process, int socket, long id) {
        long file = Syscall.call(Syscall.IOCTL, socket, SIOCUNIXFILE, 0);
        if (file == -LinuxError.EPERM || file == -LinuxError.ENOTTY || file == -LinuxError.EINVAL) {
            return null;
        }
        LinuxError.check(file, "file of a bound unix socket");
        try {
            SocketFile found = at((int) file, id);
            if (!found.path().isEmpty()) {
                Files.Stat stat = Files.stat((int) file);
                OpenedByName.found(process, "the file of a bound unix socket", found.path(), stat);
                refuseElsewhere(process, found.path());
                if (process.outside(found.path()) == null && stat.links() > 1) {
                    throw process.refuse("a unix socket is bound to " + found.path() + ", which has another name "
                            + "(link(2)) in a mount namespace of the job's own, where it cannot be checkpointed; "
                            + "remove one of them");
                }
            }
            return found;
        } finally {
            Files.close((int) file);
        }
    }

    /** A restart makes names where the job was started, and on file systems of the job's own. */
    static void refuseElsewhere(StoppedProcess process, String path) {
        String outside = process.outside(path);
        if (outside != null && !path.equals(outside)) {
            throw process
                    .refuse("a unix socket is bound to " + path + ", on a mount that only a mount namespace of the "
                            + "job has, where it cannot be checkpointed; bind it elsewhere");
        }
    }

    private static SocketFile at(int file, long id) {
        String path = Files.readLink("/proc/self/fd/" + file);
        Files.Stat stat = Files.stat(file);
        boolean gone = stat.links() == 0 || path.endsWith(DELETED);
        return new SocketFile(id, gone ? "" : path, stat.mode() & 07777, stat.uid(), stat.gid());
    }

    /**
     * Looks for the file by its inode.
     *
     * @param root        /proc/PID/root of the process that has the socket
     * @param directories to which a relative name may be relative
     * @return null: it is nowhere there
     */
    static SocketFile find(UnixDiag.Info socket, long id, String root, Set<String> directories) {
        String name = RawText.decode(socket.name());
        Set<String> places = new LinkedHashSet<>();
        if (name.startsWith("/")) {
            places.add(name);
        } else {
            directories.forEach(directory -> places.add((directory.equals("/") ? "/" : directory + "/") + name));
        }
        for (String place : places) {
            SocketFile found = look(socket, id, root + place);
            if (found != null) {
                return found;
            }
        }
        // bound under one name and moved to another one, as who wants it to appear complete does
        for (String place : places) {
            SocketFile found = lookBeside(socket, id, root + place.substring(0, place.lastIndexOf('/') + 1));
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static SocketFile look(UnixDiag.Info socket, long id, String path) {
        long file = Files.tryOpen(path, Syscall.O_PATH | Syscall.O_NOFOLLOW);
        if (file < 0) {
            return null;
        }
        try {
            return socket.hasInodeOf(Files.stat((int) file)) ? at((int) file, id) : null;
        } finally {
            Files.close((int) file);
        }
    }

    private static SocketFile lookBeside(UnixDiag.Info socket, long id, String directory) {
        long opened = Files.tryOpen(directory, Syscall.O_RDONLY | Syscall.O_DIRECTORY);
        if (opened < 0) { // it is not there, or cannot be read
            return null;
        }
        List<String> names;
        try (Folder folder = Folder.of(directory, (int) opened)) {
            names = folder.names();
        }
        for (String name : names.subList(0, Math.min(names.size(), MOST_NAMES))) {
            SocketFile found = look(socket, id, directory + name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }
}
