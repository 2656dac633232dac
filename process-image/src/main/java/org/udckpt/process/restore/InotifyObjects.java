package org.udckpt.process.restore;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.InotifyWatch;

/** Watches files and directories again, under the old numbers: the kernel counts upwards, so what is in between is made and removed. */
final class InotifyObjects {
    private static final int ADD = 254, REMOVE = 255, FIONREAD = 0x541b, IN_DONT_FOLLOW = 0x0200_0000;

    private InotifyObjects() {}

    /** When the job's files are in their places: the restore's own work on them is no event. */
    static void watch(List<InotifyWatch> watches, Descriptors descriptors, Handles handles) {
        Map<Long, List<InotifyWatch>> byDescriptor = watches.stream().sorted(Comparator.comparingInt(InotifyWatch::number)).collect(Collectors.groupingBy(InotifyWatch::inotify));
        byDescriptor.forEach((inotify, own) -> {
            Puppet maker = descriptors.maker(inotify);
            long fd = handles.in(maker, inotify);
            own.forEach(watch -> add(maker, fd, watch));
            forgetEvents(maker, fd);
        });
    }

    private static void add(Puppet maker, long fd, InotifyWatch watch) {
        while (true) {
            long number = maker.tryCall(ADD, fd, maker.string(watch.path()), watch.mask() | IN_DONT_FOLLOW);
            if (number < 0) {
                throw maker.changed("cannot watch " + watch.path() + " again: " + LinuxError.name((int) -number));
            }
            if (number == watch.number()) {
                return;
            }
            if (number > watch.number()) {
                throw maker.failed("watch " + watch.number() + " on " + watch.path() + " got number " + number);
            }
            maker.call("remove a watch", REMOVE, fd, number);
        }
    }

    /** Each removal has left a note (IN_IGNORED) of a number that the program never had. */
    private static void forgetEvents(Puppet maker, long fd) {
        while (true) {
            long count = maker.structure().i32(0).put();
            maker.call("events of an inotify descriptor", Syscall.IOCTL, fd, FIONREAD, count);
            if (maker.readInt(count) == 0) {
                return;
            }
            maker.call("read events", Syscall.READ, fd, maker.scratch(), Puppet.SCRATCH_BYTES);
        }
    }
}
