package org.udckpt.process.restore;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PidFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;

/**
 * Watches files and directories again, under the old numbers: the kernel counts upwards, so what is in between is made and removed. By a duplicate of the
 * job's descriptor in this process, when all else is done: what the restore itself does to files, and its end, is no event.
 */
final class InotifyObjects {
    private static final int ADD = 254, REMOVE = 255, FIONREAD = 0x541b;

    private final Puppet maker;
    private final int inotify;
    private final NamedFiles names;

    private InotifyObjects(Puppet maker, int inotify, NamedFiles names) {
        this.maker = maker;
        this.inotify = inotify;
        this.names = names;
    }

    /** When the job's files are in their places, and its descriptors under their numbers. */
    static void watch(JobImage image, Map<Integer, Puppet> puppets, NamedFiles names) {
        for (KernelObject object : image.objects()) {
            if (object instanceof KernelObject.InotifyFd) {
                Descriptor any = image.descriptors().stream().filter(one -> one.object() == object.id()).findFirst().orElseThrow();
                Puppet maker = puppets.get(any.pid());
                try (PidFd process = new PidFd(maker.hostPid())) {
                    int duplicate = process.duplicate(any.fd());
                    try {
                        boolean lost = image.notices().stream().anyMatch(notice -> notice instanceof FileNotice.LostEvents && notice.object() == object.id());
                        new InotifyObjects(maker, duplicate, names).watch(image.watches().stream().filter(watch -> watch.inotify() == object.id()).toList(), lost);
                    } finally {
                        Files.close(duplicate);
                    }
                }
            }
        }
    }

    private void watch(List<InotifyWatch> watches, boolean lost) {
        watches.stream().sorted(Comparator.comparingInt(InotifyWatch::number)).forEach(this::add);
        forgetEvents();
        if (lost) {
            InotifyOverflow.tell(inotify);
        }
    }

    private void add(InotifyWatch watch) {
        int file;
        try {
            file = names.openSeen("/proc/" + maker.hostPid() + "/root", watch.path()); // as the job sees it
        } catch (LinuxError e) {
            throw maker.changed("cannot watch " + watch.path() + " again: " + e.getMessage());
        }
        try {
            add(watch, "/proc/self/fd/" + file);
        } finally {
            Files.close(file);
        }
    }

    private void add(InotifyWatch watch, String path) {
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
    private void forgetEvents() {
        while (true) {
            LinuxError.check(Syscall.call(Syscall.IOCTL, inotify, FIONREAD, Scratch.data().address()), "events of an inotify descriptor");
            if (Scratch.data().get(JAVA_INT, 0) == 0) {
                return;
            }
            LinuxError.check(Syscall.call(Syscall.READ, inotify, Scratch.data().address(), Scratch.DATA_BYTES), "read events");
        }
    }
}
