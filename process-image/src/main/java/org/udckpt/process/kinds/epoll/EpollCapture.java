package org.udckpt.process.kinds.epoll;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * Epoll descriptors and what they watch: in fdinfo (proc_pid_fdinfo(5)), by numbers of descriptors that may stand for
 * something else by now.
 */
final class EpollCapture implements KindCapture {
    private static final int KCMP_EPOLL_TFD = 7;

    private record Seen(OpenDescriptor open, long object) {}

    private record Watch(OpenDescriptor epoll, long id) {}

    private final ObjectTable table;
    /** By their numbers. */
    private final Map<Integer, List<Seen>> seen = new HashMap<>();
    private final List<Watch> epolls = new ArrayList<>();

    EpollCapture(CaptureScope scope) {
        this.table = scope.table();
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.link().equals("anon_inode:[eventpoll]");
    }

    /** An epoll may watch any descriptor of any process. */
    @Override
    public void seen(OpenDescriptor open, long object, boolean first) {
        seen.computeIfAbsent(open.fd(), _ -> new ArrayList<>()).add(new Seen(open, object));
    }

    @Override
    public long read(OpenDescriptor open) {
        long id = table.newId();
        table.add(new Epoll(id, open.openFlags()));
        epolls.add(new Watch(open, id));
        return id;
    }

    @Override
    public void finish() {
        for (Watch watch : epolls) {
            for (String line : watch.epoll.info().split("\n")) {
                if (line.startsWith("tfd:")) {
                    entry(watch, line.strip().split("[\\s:]+"));
                }
            }
        }
    }

    /** Words: tfd, number, events, hex, data, hex, ... */
    private void entry(Watch watch, String[] words) {
        int fd = Integer.parseInt(words[1]);
        int events = Integer.parseUnsignedInt(words[3], 16);
        long data = Long.parseUnsignedLong(words[5], 16);
        Seen target = target(watch.epoll, fd);
        if (target != null) {
            table.add(new EpollEntry(
                    table.newId(), watch.id, target.open.process().namespacePid(), fd, events, data, target.object));
            return;
        }
        for (int owned : watch.epoll.process().ownedDescriptors()) {
            if (owned == fd) {
                table.add(new EpollEntry(table.newId(), watch.id, watch.epoll.process().namespacePid(), fd, events,
                        data, ObjectTable.OWNED));
                return;
            }
        }
        throw watch.epoll.refuse("this epoll watches descriptor " + fd
                + ", which was closed while a duplicate stays open; remove it from the epoll first");
    }

    /** Most watch their own process's, which is asked first: each question is a system call. */
    private Seen target(OpenDescriptor epoll, int fd) {
        List<Seen> sameNumber = seen.getOrDefault(fd, List.of());
        for (boolean own : new boolean[]{true, false}) {
            for (Seen one : sameNumber) {
                if (one.open.process() == epoll.process() == own && watches(one.open, epoll, fd)) {
                    return one;
                }
            }
        }
        return null;
    }

    /** struct kcmp_epoll_slot {efd, tfd, toff} (kcmp(2)). */
    private static boolean watches(OpenDescriptor target, OpenDescriptor epoll, int fd) {
        MemorySegment slot = Scratch.data();
        slot.set(JAVA_INT, 0, epoll.fd());
        slot.set(JAVA_INT, 4, fd);
        slot.set(JAVA_INT, 8, 0);
        return Syscall.call(Syscall.KCMP, target.process().pid(), epoll.process().pid(), KCMP_EPOLL_TFD, target.fd(),
                slot.address())
                == 0;
    }
}
