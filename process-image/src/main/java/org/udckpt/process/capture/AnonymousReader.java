package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.KernelObject.Epoll;
import org.udckpt.process.model.KernelObject.EpollEntry;
import org.udckpt.process.model.KernelObject.InotifyFd;
import org.udckpt.process.model.KernelObject.SignalFd;
import org.udckpt.process.model.KernelObject.TimerFd;

/** Descriptors without a name: their state is in fdinfo (proc_pid_fdinfo(5)). */
final class AnonymousReader {
    private static final int KCMP_EPOLL_TFD = 7;

    private record Seen(OpenDescriptor open, long object) {}

    private record Watch(OpenDescriptor epoll, long id) {}

    private final ObjectTable table;
    private QuietFiles quiet;
    /** By their numbers. */
    private final Map<Integer, List<Seen>> seen = new HashMap<>();
    private final List<Watch> epolls = new ArrayList<>();

    AnonymousReader(ObjectTable table) {
        this.table = table;
    }

    void openBy(QuietFiles opener) {
        quiet = opener;
    }

    /** Every descriptor of every process is shown here: an epoll may watch any of them. */
    void seen(OpenDescriptor open, long object) {
        seen.computeIfAbsent(open.fd(), _ -> new ArrayList<>()).add(new Seen(open, object));
    }

    /** To be asked before any file is opened: a process that decides on opens (fanotify(7)) would be waited for while it stands still. */
    static void refuse(OpenDescriptor open) {
        if (open.link().equals("anon_inode:[fanotify]")) {
            throw open.refuse("fanotify cannot be checkpointed; close it first");
        }
    }

    long read(OpenDescriptor open) {
        long id = table.newId();
        int flags = open.openFlags();
        switch (open.link()) {
            case "anon_inode:[eventfd]" -> table.add(EventFds.read(open, id));
            case "anon_inode:[timerfd]" -> table.add(TimerFds.read(open, id));
            case "anon_inode:[signalfd]" -> table.add(new SignalFd(id, flags, open.number("sigmask:", 16)));
            case "anon_inode:[eventpoll]" -> {
                table.add(new Epoll(id, flags));
                epolls.add(new Watch(open, id));
            }
            case "anon_inode:inotify" -> {
                InotifyReader.read(open, id, quiet).forEach(table::add);
                if (InotifyReader.unread(open) > 0) {
                    table.add(new FileNotice.LostEvents(id));
                }
                table.add(new InotifyFd(id, flags));
            }
            case "anon_inode:[io_uring]" -> throw open.refuse("io_uring cannot be checkpointed; run the program with its io_uring support turned off");
            case "anon_inode:[userfaultfd]" -> throw open.refuse("userfaultfd cannot be checkpointed; run the program without it");
            default -> throw open.refuse(open.link() + " cannot be checkpointed; close it first");
        }
        return id;
    }

    void finish() {
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
            table.add(new EpollEntry(table.newId(), watch.id, target.open.process().namespacePid, fd, events, data, target.object));
            return;
        }
        for (int owned : watch.epoll.process().ownedDescriptors) {
            if (owned == fd) {
                table.add(new EpollEntry(table.newId(), watch.id, watch.epoll.process().namespacePid, fd, events, data, ObjectTable.OWNED));
                return;
            }
        }
        throw watch.epoll.refuse("this epoll watches number " + fd + ", which was closed while a duplicate stays open; remove it from the epoll first");
    }

    /** Most watch their own process's, which is asked first: each question is a system call. */
    private Seen target(OpenDescriptor epoll, int fd) {
        List<Seen> sameNumber = seen.getOrDefault(fd, List.of());
        for (boolean own : new boolean[] {true, false}) {
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
        return Syscall.call(Syscall.KCMP, target.process().pid, epoll.process().pid, KCMP_EPOLL_TFD, target.fd(), slot.address()) == 0;
    }
}
