package org.udckpt.process.kinds.inotify;

import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.Descriptor;

/** Makes groups, and marks when all else is done: what the restore itself does to files is no event. */
final class FanotifyRestore implements KindRestore<FanotifyGroup> {
    private static final int INIT = 300, MARK = 301, ADD = 1, AS_IGNORED = 0x20;

    private final RestoreScope scope;

    FanotifyRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public long make(Maker maker, FanotifyGroup group) {
        long fd = maker.tryCall(INIT, group.groupFlags(), group.eventFlags());
        if (fd < 0) {
            throw maker.unsupported("fanotify cannot be set up again: " + LinuxError.name((int) -fd));
        }
        return fd;
    }

    @Override
    public int flags(FanotifyGroup group) {
        return group.flags();
    }

    @Override
    public void complete() {
        for (FanotifyGroup group : scope.objects(FanotifyGroup.class)) {
            List<FanotifyMark> marks = scope.objects(FanotifyMark.class).stream()
                    .filter(mark -> mark.object() == group.id()).toList().reversed(); // the kernel tells the last first
            Descriptor any = scope.descriptor(group.id());
            Maker maker = scope.process(any.pid());
            try (ProcessHandleFd process = new ProcessHandleFd(maker.hostPid())) {
                int same = process.duplicate(any.fd());
                try {
                    marks.forEach(mark -> mark(maker, same, mark));
                } finally {
                    Files.close(same);
                }
            }
        }
    }

    private void mark(Maker maker, int group, FanotifyMark mark) {
        int file;
        try {
            file = scope.openSeen(maker, mark.path());
        } catch (LinuxError e) {
            throw maker.changed("cannot watch " + mark.path() + " again: " + e.getMessage());
        }
        try {
            int kept = mark.markFlags() & FanotifyMark.EVICTABLE;
            if (mark.watchedMask() != 0) {
                add(maker, group, file, mark, ADD | mark.marked() | kept, mark.watchedMask());
            }
            if (mark.ignoredMask() != 0) {
                int how = (mark.markFlags() & FanotifyMark.IGNORE) != 0 ? FanotifyMark.IGNORE : AS_IGNORED;
                add(maker, group, file, mark, ADD | mark.marked() | kept | how
                        | mark.markFlags() & FanotifyMark.SURVIVES, mark.ignoredMask());
            }
        } finally {
            Files.close(file);
        }
    }

    private static void add(Maker maker, int group, int file, FanotifyMark mark, int flags, int mask) {
        long result = Syscall.call(MARK, group, flags, Integer.toUnsignedLong(mask), -1,
                Scratch.string("/proc/self/fd/" + file));
        if (result < 0) {
            throw maker.changed("cannot watch " + mark.path() + " again: " + LinuxError.name((int) -result));
        }
    }
}
