package org.udckpt.process.kinds.inotify;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.FIONREAD;

import java.util.Comparator;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.InotifyWatch;

/**
 * Watches files and directories again, under the old numbers: the kernel counts upwards, so what is in between is made
 * and removed. By a duplicate of the job's descriptor in this process, when all else is done: what the restore itself
 * does to files, and its end, is no event.
 */
final class InotifyRestore implements KindRestore<InotifyFd> {
    private static final int ADD = 254, REMOVE = 255, INIT = 294;

    private final RestoreScope scope;

    InotifyRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public long make(Maker maker, InotifyFd inotify) {
        return maker.call("inotify_init1", INIT, KindRestore.nonBlocking(inotify.flags()));
    }

    @Override
    public int flags(InotifyFd inotify) {
        return inotify.flags();
    }

    @Override
    public void complete() {
        for (InotifyFd inotify : scope.objects(InotifyFd.class)) {
            Descriptor any = scope.image()
                    .descriptors()
                    .stream()
                    .filter(one -> one.object() == inotify.id())
                    .findFirst()
                    .orElseThrow();
            Maker maker = scope.process(any.pid());
            try (ProcessHandleFd process = new ProcessHandleFd(maker.hostPid())) {
                int duplicate = process.duplicate(any.fd());
                try {
                    watch(maker, duplicate, inotify.id());
                } finally {
                    Files.close(duplicate);
                }
            }
        }
    }

    private void watch(Maker maker, int inotify, long id) {
        scope.image()
                .watches()
                .stream()
                .filter(watch -> watch.inotify() == id)
                .sorted(Comparator.comparingInt(InotifyWatch::number))
                .forEach(watch -> add(maker, inotify, watch));
        forgetEvents(inotify);
        if (scope.image().notices().stream().anyMatch(
                notice -> notice instanceof FileNotice.LostEvents && notice.object() == id)) {
            InotifyOverflow.tell(inotify);
        }
    }

    private void add(Maker maker, int inotify, InotifyWatch watch) {
        int file;
        try {
            file = file(maker, watch.path());
        } catch (LinuxError e) {
            throw maker.changed("cannot watch " + watch.path() + " again: " + e.getMessage());
        }
        try {
            add(maker, inotify, watch, "/proc/self/fd/" + file);
        } finally {
            Files.close(file);
        }
    }

    private int file(Maker maker, String path) {
        DescriptorName descriptor = DescriptorName.of(path);
        if (descriptor == null) {
            return scope.openSeen(maker, path);
        }
        try (ProcessHandleFd process = new ProcessHandleFd(scope.process(descriptor.pid()).hostPid())) {
            return process.duplicate(descriptor.fd());
        }
    }

    private static void add(Maker maker, int inotify, InotifyWatch watch, String path) {
        while (true) {
            long number = Syscall.call(ADD, inotify, Scratch.string(path), watch.mask());
            if (number < 0) {
                throw maker.changed("cannot watch " + watch.path() + " again: " + LinuxError.name((int) -number));
            }
            if (number == watch.number()) {
                return;
            }
            if (number > watch.number()) {
                throw maker.failed("watch " + watch.number() + " on " + watch.path() + " got number " + number);
            }
            LinuxError.check(Syscall.call(REMOVE, inotify, number), "remove a watch");
        }
    }

    /** Each removal has left a note (IN_IGNORED) of a number that the program never had. */
    private static void forgetEvents(int inotify) {
        while (true) {
            LinuxError.check(Syscall.call(Syscall.IOCTL, inotify, FIONREAD, Scratch.data().address()),
                    "events of an inotify descriptor");
            if (Scratch.data().get(JAVA_INT, 0) == 0) {
                return;
            }
            LinuxError.check(
                    Syscall.call(Syscall.READ, inotify, Scratch.data().address(), Scratch.DATA_BYTES), "read events");
        }
    }
}
