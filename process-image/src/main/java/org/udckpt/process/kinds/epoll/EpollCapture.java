package org.udckpt.process.kinds.epoll;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
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
final class EpollCapture implements KindCapture, KindCapture.Sees {
    private static final int KCMP_EPOLL_TFD = 7;

    private record Seen(OpenDescriptor open, long object) {}

    private record Watch(OpenDescriptor epoll, long id) {}

    /** What the kernel tells of an entry: the number that was added, and which of the entries with it this one is. */
    private record Slot(OpenDescriptor epoll, int fd, int offset) {
        /** struct kcmp_epoll_slot {efd, tfd, toff} (kcmp(2)). */
        boolean refersTo(OpenDescriptor target) {
            MemorySegment slot = Scratch.data();
            slot.set(JAVA_INT, 0, epoll.fd());
            slot.set(JAVA_INT, 4, fd);
            slot.set(JAVA_INT, 8, offset);
            return Syscall.call(Syscall.KCMP, target.process().task(), epoll.process().task(), KCMP_EPOLL_TFD,
                    target.fd(), slot.address()) == 0;
        }
    }

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
            Map<Integer, Integer> numbers = new HashMap<>();
            for (String line : watch.epoll.info().split("\n")) {
                if (line.startsWith("tfd:")) {
                    String[] words = line.strip().split("[\\s:]+"); // tfd, number, events, hex, data, hex, ...
                    int fd = Integer.parseInt(words[1]);
                    entry(watch, new Slot(watch.epoll, fd, numbers.merge(fd, 1, Integer::sum) - 1),
                            Integer.parseUnsignedInt(words[3], 16), Long.parseUnsignedLong(words[5], 16));
                }
            }
        }
    }

    private void entry(Watch watch, Slot slot, int events, long data) {
        Seen target = sameNumber(slot);
        if (target == null && isOwned(slot)) {
            table.add(new EpollEntry(table.newId(), watch.id, watch.epoll.process().namespacePid(), slot.fd, events,
                    data, ObjectTable.OWNED));
            return;
        }
        target = target == null ? otherNumber(slot) : target;
        if (target == null) {
            throw watch.epoll.refuse("this epoll watches descriptor " + slot.fd
                    + ", which was closed while its file stays open outside of the job; "
                    + "remove it from the epoll first");
        }
        table.add(new EpollEntry(table.newId(), watch.id, target.open.process().namespacePid(), slot.fd, events, data,
                target.object));
    }

    /** Whether a descriptor belongs to the library in the process. */
    private static boolean isOwned(Slot slot) {
        return IntStream.of(slot.epoll.process().ownedDescriptors()).anyMatch(owned -> owned == slot.fd);
    }

    /** Most watch their own process's, which is asked first: each question is a system call. */
    private Seen sameNumber(Slot slot) {
        List<Seen> sameNumber = seen.getOrDefault(slot.fd, List.of());
        for (boolean own : new boolean[]{true, false}) {
            for (Seen one : sameNumber) {
                if (one.open.process() == slot.epoll.process() == own && slot.refersTo(one.open)) {
                    return one;
                }
            }
        }
        return null;
    }

    /** The number was closed, and the entry lives on with a duplicate of it. */
    private Seen otherNumber(Slot slot) {
        return seen.values().stream().flatMap(List::stream).filter(one -> slot.refersTo(one.open)).findFirst()
                .orElse(null);
    }
}
