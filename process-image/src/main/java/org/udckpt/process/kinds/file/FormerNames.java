package org.udckpt.process.kinds.file;

import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.AT_SYMLINK_FOLLOW;
import static org.udckpt.linux.LinuxConstants.F_SETFL;

import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.OpenFlags;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.OpenFile;

/**
 * Opens files by the names that they had when the job opened them: each is given that name for the moment, if it is
 * free. Where it is not, or this user may not link the file, the file is the same, and /proc shows its other name.
 */
final class FormerNames {
    private final RestoreScope scope;
    /** By the ids of the open files. */
    private final Map<Long, String> names = new HashMap<>();

    FormerNames(RestoreScope scope) {
        this.scope = scope;
        scope.objects(FormerName.class).forEach(one -> names.put(one.object(), one.path()));
    }

    /** A descriptor; -1: by its former name it cannot be opened, or it has none. */
    long tryOpen(Maker maker, OpenFile file) {
        String name = names.get(file.id());
        if (name == null) {
            return -1;
        }
        long handle = scope.tryOpen(maker, file.path(), Syscall.O_PATH | Syscall.O_NOFOLLOW | Syscall.O_CLOEXEC);
        if (handle < 0) {
            return -1;
        }
        int slash = name.lastIndexOf('/');
        long directory = scope.tryOpen(maker, name.substring(0, Math.max(1, slash)),
                Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_CLOEXEC);
        long fd = directory < 0 ? -1 : openLinked(maker, file, handle, directory, name.substring(slash + 1));
        if (directory >= 0) {
            maker.call("close", Syscall.CLOSE, directory);
        }
        maker.call("close", Syscall.CLOSE, handle);
        return fd;
    }

    private long openLinked(Maker maker, OpenFile file, long handle, long directory, String name) {
        long linked = maker.tryCall(Syscall.LINKAT, AT_FDCWD, maker.string("/proc/self/fd/" + handle), directory,
                maker.string(name), AT_SYMLINK_FOLLOW);
        if (linked < 0) {
            return -1;
        }
        long fd = maker.tryCall(Syscall.OPENAT, directory, maker.string(name),
                OpenFlags.kept(file.flags()) | Syscall.O_NONBLOCK, 0);
        if (fd >= 0 && !scope.same(maker, fd, handle)) { // somebody has exchanged it
            maker.call("close", Syscall.CLOSE, fd);
            return -1;
        }
        maker.call("remove " + name + " again", Syscall.UNLINKAT, directory, maker.string(name), 0);
        if (fd >= 0 && (file.flags() & Syscall.O_PATH) == 0) {
            maker.call("flags of " + name, Syscall.FCNTL, fd, F_SETFL, file.flags());
        }
        return fd;
    }
}
