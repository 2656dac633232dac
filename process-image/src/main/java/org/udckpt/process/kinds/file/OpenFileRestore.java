package org.udckpt.process.kinds.file;

import static org.udckpt.linux.LinuxConstants.F_DUPFD_CLOEXEC;
import static org.udckpt.linux.LinuxConstants.F_SETFL;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.OpenFlags;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.SharedMemory;

/** Opens files again as they were open. */
final class OpenFileRestore implements KindRestore<OpenFile> {
    private static final int ACCESS = 3;

    private final RestoreScope scope;
    private final FormerNames formerNames;
    /** Ids of memory of memfds, and of those of which a descriptor is there. */
    private final Set<Long> memfds;
    private final Set<Long> begun = new HashSet<>();

    OpenFileRestore(RestoreScope scope) {
        this.scope = scope;
        this.formerNames = new FormerNames(scope);
        this.memfds = scope.objects(SharedMemory.class).stream().filter(memory -> memory.kind() == MemoryKind.MEMFD)
                .map(SharedMemory::id).collect(Collectors.toSet());
    }

    @Override
    public long make(Maker maker, OpenFile file) {
        if (isFirst(file)) {
            return first(maker, file);
        }
        if (file.backing() == 0) {
            return named(maker, file);
        }
        long formerly = formerNames.tryOpen(maker, file);
        if (formerly >= 0) {
            return at(maker, file.path(), formerly, file.position());
        }
        // A second open file description of the same inode, which may have no name (proc(5), /proc/PID/fd).
        // That path is a symbolic link, which O_NOFOLLOW (SQLite, Python's tempfile) would refuse.
        long there = scope.made().in(maker, file.backing());
        int flags = OpenFlags.kept(file.flags()) & ~Syscall.O_NOFOLLOW;
        return at(maker, "/proc/self/fd/" + there, maker.reopen(there, flags), file.position());
    }

    /**
     * Whether it is what memfd_create(2) gave, which does not count among those who have the file open for writing:
     * what is opened again does, and keeps a program in the file from being executed (ETXTBSY).
     */
    private boolean isFirst(OpenFile file) {
        return memfds.contains(file.backing()) && (file.flags() & (ACCESS | Syscall.O_APPEND)) == Syscall.O_RDWR
                && begun.add(file.backing());
    }

    /** The descriptor with which its memory was made. */
    private long first(Maker maker, OpenFile file) {
        long fd = maker.call("dup " + file.path(), Syscall.FCNTL, scope.made().in(maker, file.backing()),
                F_DUPFD_CLOEXEC, 0);
        maker.call("flags of " + file.path(), Syscall.FCNTL, fd, F_SETFL, file.flags());
        return at(maker, file.path(), fd, file.position());
    }

    /** What was looked at is a file; what has its name now may be a FIFO, for whose other end an open would wait. */
    private long named(Maker maker, OpenFile file) {
        boolean waits = scope.verified(file.path()) && (file.flags() & (Syscall.O_NONBLOCK | Syscall.O_PATH)) == 0;
        int flags = OpenFlags.kept(file.flags());
        long formerly = formerNames.tryOpen(maker, file);
        long opened = formerly >= 0 ? formerly
                : scope.tryOpenFor(maker, file.path(), flags | (waits ? Syscall.O_NONBLOCK : 0), file.id());
        long fd = at(maker, file.path(), opened, 0);
        scope.verify(maker, file, fd);
        if (waits) {
            maker.call("clear O_NONBLOCK of " + file.path(), Syscall.FCNTL, fd, F_SETFL, flags);
        }
        return at(maker, file.path(), fd, file.position());
    }

    private static long at(Maker maker, String path, long fd, long position) {
        if (fd < 0) {
            throw maker.changed("cannot open " + path + " again: " + LinuxError.name((int) -fd));
        }
        if (position != 0) {
            maker.call("seek in " + path, Syscall.LSEEK, fd, position, 0);
        }
        return fd;
    }
}
