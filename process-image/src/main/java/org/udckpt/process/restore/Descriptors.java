package org.udckpt.process.restore;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.names.NewNames;
import org.udckpt.process.names.PlacedNames;

/**
 * Makes every kernel object once, in the first process that has it, and puts it under the numbers under which the
 * processes knew it.
 */
final class Descriptors {
    private static final int O_ASYNC = 020000, F_SETFD = 2, ACCESS = 3;

    private final JobImage image;
    private final Map<Integer, Puppet> puppets;
    private final Handles handles;
    private final NamedFiles names;
    private final RestoreTarget target;
    /** object id -> the first process that has a descriptor of it */
    private final Map<Long, Puppet> makers = new HashMap<>();
    /** ids of memory of memfds, and of those of which a descriptor is there */
    private final Set<Long> memfds;
    private final Set<Long> begun = new HashSet<>();
    /** the launcher's standard streams, which the stubs inherited: their numbers in each process */
    private final long[] streams;
    /** its number in its namespace */
    private final int shepherd;

    Descriptors(JobImage image, Map<Integer, Puppet> puppets, Handles handles, NamedFiles names, RestoreTarget target, ProcessTree tree) {
        this.streams = tree.streams();
        this.shepherd = tree.shepherd();
        this.image = image;
        this.puppets = puppets;
        this.handles = handles;
        this.names = names;
        this.target = target;
        this.memfds = objects(KernelObject.SharedMemory.class).stream().filter(memory -> memory.kind() == MemoryKind.MEMFD).map(KernelObject::id).collect(Collectors.toSet());
        for (Descriptor descriptor : image.descriptors()) {
            makers.putIfAbsent(descriptor.object(), puppet(descriptor.pid()));
        }
    }

    /** The first process with a descriptor of this object, or null. */
    Puppet maker(long object) {
        return makers.get(object);
    }

    /** @param tcp made already, in this process, as {@code packets} */
    void make(TcpObjects tcp, PacketObjects packets, NewNames newNames, PlacedNames placed, PeerMakers peers) {
        Map<Long, List<KernelObject.PipeEnd>> ends = objects(KernelObject.PipeEnd.class).stream().collect(Collectors.groupingBy(KernelObject.PipeEnd::pipe));
        PipeObjects pipes = new PipeObjects(this, handles, newNames, placed);
        for (KernelObject.Pipe pipe : objects(KernelObject.Pipe.class)) {
            pipes.make(pipe, ends.getOrDefault(pipe.id(), List.of()));
        }
        new SocketObjects(objects(KernelObject.UnixSocket.class), objects(KernelObject.GonePeer.class), objects(KernelObject.UnixOptions.class), this, handles,
                new SocketNames(newNames, placed, handles), peers).make();
        tcp.give(puppets, handles);
        packets.give(puppets, handles);
        for (KernelObject object : image.objects()) {
            Puppet maker = makers.get(object.id());
            if (maker != null && !handles.known(object.id())) {
                long fd = handles.add(maker, object.id(), make(maker, object));
                setFlags(maker, object, fd);
            }
        }
        objects(KernelObject.EpollEntry.class).forEach(this::watch);
    }

    /** What F_SETFL has set on those that are made without: it may mean nothing there, but F_GETFL tells it. */
    private static void setFlags(Puppet maker, KernelObject object, long fd) {
        int flags = switch (object) {
            case KernelObject.EventFd event -> event.flags();
            case KernelObject.TimerFd timer -> timer.flags();
            case KernelObject.Epoll epoll -> epoll.flags();
            case KernelObject.SignalFd signals -> signals.flags();
            case KernelObject.InotifyFd inotify -> inotify.flags();
            case KernelObject.OpenFile _, KernelObject.DirectoryOrDevice _, KernelObject.PseudoFile _, KernelObject.AgentConnection _, KernelObject.PmiConnection _, KernelObject.StandardStream _,
                    KernelObject.Pipe _, KernelObject.PipeEnd _, KernelObject.UnixSocket _, KernelObject.SharedMemory _, KernelObject.EpollEntry _, KernelObject.MappedFile _,
                    KernelObject.FileLock _, KernelObject.SignalOnReady _, KernelObject.SignalOwner _, KernelObject.GonePeer _, KernelObject.UnixOptions _ -> 0;
        };
        if ((flags & ~(ACCESS | Syscall.O_NONBLOCK)) != 0) {
            maker.call("set a descriptor's flags", Syscall.FCNTL, fd, 4 /* F_SETFL */, flags & ~ACCESS);
        }
    }

    /**
     * Whether it is what memfd_create(2) gave, which does not count among those who have the file open for writing: what is opened again does, and keeps a program in the
     * file from being executed (ETXTBSY).
     */
    private boolean isFirst(KernelObject.OpenFile file) {
        return memfds.contains(file.backing()) && (file.flags() & (ACCESS | Syscall.O_APPEND)) == Syscall.O_RDWR && begun.add(file.backing());
    }

    /** A fresh descriptor of the object, anywhere. */
    private long make(Puppet maker, KernelObject object) {
        return switch (object) {
            case KernelObject.OpenFile file when isFirst(file) -> FileObjects.first(maker, file, handles);
            case KernelObject.OpenFile file -> FileObjects.open(maker, file, handles, names);
            case KernelObject.DirectoryOrDevice file -> FileObjects.open(maker, file.path(), file.flags(), file.position(), names);
            case KernelObject.PseudoFile file -> FileObjects.open(maker, file.path(), file.flags(), file.position(), names);
            case KernelObject.EventFd event -> EventObjects.event(maker, event);
            case KernelObject.TimerFd timer -> EventObjects.timer(maker, timer);
            case KernelObject.Epoll epoll -> epoll(maker, epoll);
            case KernelObject.SignalFd signals -> EventObjects.signals(maker, signals);
            case KernelObject.InotifyFd inotify -> maker.call("inotify_init1", 294 /* inotify_init1 */, inotify.flags() & Syscall.O_NONBLOCK);
            case KernelObject.AgentConnection agent -> SocketObjects.agent(maker, agent, target.agentSocket());
            case KernelObject.PmiConnection pmi -> pmi(maker, pmi);
            case KernelObject.StandardStream stream -> maker.call("dup", Syscall.FCNTL, streams[stream.stream()], 0 /* F_DUPFD */, 0);
            case KernelObject.Pipe p -> throw misplaced(maker, p);
            case KernelObject.PipeEnd p -> throw misplaced(maker, p);
            case KernelObject.UnixSocket s -> throw misplaced(maker, s);
            case KernelObject.SharedMemory m -> throw misplaced(maker, m);
            case KernelObject.EpollEntry e -> throw misplaced(maker, e);
            case KernelObject.MappedFile m -> throw misplaced(maker, m);
            case KernelObject.FileLock l -> throw misplaced(maker, l);
            case KernelObject.SignalOnReady s -> throw misplaced(maker, s);
            case KernelObject.SignalOwner s -> throw misplaced(maker, s);
            case KernelObject.GonePeer p -> throw misplaced(maker, p);
            case KernelObject.UnixOptions o -> throw misplaced(maker, o);
        };
    }

    private static RestoreException misplaced(Puppet maker, KernelObject object) {
        return maker.failed("the image is inconsistent: " + object.getClass().getSimpleName() + " " + object.id() + " has a descriptor, but was not made with its peers");
    }

    /** An epoll descriptor has flags that epoll itself never looks at: libudckpt.so's channels keep the job's O_NONBLOCK there. */
    private static long epoll(Puppet maker, KernelObject.Epoll epoll) {
        long fd = maker.call("epoll_create1", Syscall.EPOLL_CREATE1, 0);
        if ((epoll.flags() & Syscall.O_NONBLOCK) != 0) {
            maker.call("set O_NONBLOCK", Syscall.FCNTL, fd, 4 /* F_SETFL */, Syscall.O_NONBLOCK);
        }
        return fd;
    }

    private long pmi(Puppet maker, KernelObject.PmiConnection pmi) {
        int number = target.pmi(maker.rank(), pmi.queued());
        long fd = Handles.fetch(maker, shepherd, number);
        target.taken(number);
        if ((pmi.flags() & Syscall.O_NONBLOCK) != 0) {
            maker.call("set O_NONBLOCK", Syscall.FCNTL, fd, 4 /* F_SETFL */, Syscall.O_NONBLOCK);
        }
        return fd;
    }

    /**
     * An epoll entry is keyed by open file and descriptor number, and lives as long as the file does (epoll(7), Q6). So the
     * file is put under that number for a moment: whatever the number stands for in the end, the entry is as it was.
     */
    private void watch(KernelObject.EpollEntry entry) {
        if (entry.object() == 0) {
            return; // the library's own: watched again after REBUILD
        }
        Puppet puppet = puppet(entry.pid());
        long epoll = handles.in(puppet, entry.epoll());
        long object = handles.in(puppet, entry.object());
        if (object == entry.fd()) {
            watch(puppet, epoll, entry);
            return;
        }
        long there = puppet.call("keep descriptor " + entry.fd(), Syscall.FCNTL, entry.fd(), 1030 /* F_DUPFD_CLOEXEC */, 0);
        puppet.call("dup3", Syscall.DUP3, object, entry.fd(), Syscall.O_CLOEXEC);
        watch(puppet, epoll, entry);
        puppet.call("descriptor " + entry.fd() + " again", Syscall.DUP3, there, entry.fd(), Syscall.O_CLOEXEC);
        puppet.call("close", Syscall.CLOSE, there);
    }

    private static void watch(Puppet puppet, long epoll, KernelObject.EpollEntry entry) {
        long event = puppet.structure().i32(entry.events()).i64(entry.data()).put();
        puppet.call("watch descriptor " + entry.fd() + " by epoll", Syscall.EPOLL_CTL, epoll, 1 /* EPOLL_CTL_ADD */, entry.fd(), event);
    }

    /** The last step: every number means what it meant; the temporaries are closed. */
    void place() {
        puppets.values().forEach(handles::fetchAll);
        List<Descriptor> sorted = image.descriptors().stream().sorted(Comparator.comparingInt(Descriptor::fd)).toList();
        Map<Puppet, Batch> batches = new LinkedHashMap<>();
        for (Descriptor descriptor : sorted) {
            Puppet puppet = puppet(descriptor.pid());
            long from = handles.in(puppet, descriptor.object());
            Batch batch = batches.computeIfAbsent(puppet, Batch::new);
            if (batch.full(1, 0)) {
                batch.run();
            }
            if (from == descriptor.fd()) {
                batch.add(() -> "flags of descriptor " + descriptor.fd(), Syscall.FCNTL, from, F_SETFD, descriptor.closeOnExec() ? 1 : 0);
            } else {
                batch.add(() -> "descriptor " + descriptor.fd(), Syscall.DUP3, from, descriptor.fd(), descriptor.closeOnExec() ? Syscall.O_CLOEXEC : 0);
            }
        }
        batches.values().forEach(Batch::run);
        puppets.values().forEach(handles::closeTemporaries);
        image.attributes().stream().filter(one -> one.kind() == AttributeKind.OBJECT_OWNER).forEach(this::give);
        // A process that closes any descriptor of a file loses its locks on it (fcntl(2)): only now.
        objects(KernelObject.FileLock.class).forEach(this::lock);
        objects(KernelObject.SignalOwner.class).forEach(this::owner);
        objects(KernelObject.SignalOnReady.class).forEach(this::signal); // what the restore itself writes, signals nobody
        image.notices().stream().filter(FileNotice.Lease.class::isInstance).map(FileNotice.Lease.class::cast).forEach(this::lease);
    }

    /** It changes whose a socket is for firewalls and routes, too (sockfs_setattr, net/socket.c). */
    private void give(Attribute owner) {
        Descriptor any = anyOf(owner.values()[0]);
        puppet(any.pid()).call("fchown of a socket or pipe", Syscall.FCHOWN, any.fd(), owner.values()[1], owner.values()[2]);
    }

    private void lock(KernelObject.FileLock lock) {
        Puppet puppet = puppet(lock.pid());
        int fd = image.descriptors().stream().filter(d -> d.pid() == lock.pid() && d.object() == lock.object()).findFirst()
                .orElseThrow(() -> inconsistent(lock.object())).fd();
        FileObjects.lock(puppet, fd, lock);
    }

    private void lease(FileNotice.Lease lease) {
        Descriptor any = anyOf(lease.object());
        receiver(puppet(any.pid()), any, lease.signal(), lease.type(), lease.receiver());
        FileObjects.lease(puppet(any.pid()), any.fd(), lease.exclusive());
    }

    private Descriptor anyOf(long object) {
        return image.descriptors().stream().filter(d -> d.object() == object).findFirst().orElseThrow(() -> inconsistent(object));
    }

    private static RestoreException inconsistent(long object) {
        return new RestoreException(RestoreException.Reason.FAILED, "the image is inconsistent: no process has object " + object + " open that has to");
    }

    /** fcntl(2): F_SETSIG, F_SETOWN_EX. */
    private static void receiver(Puppet puppet, Descriptor descriptor, int signal, int type, int receiver) {
        puppet.call("F_SETSIG", Syscall.FCNTL, descriptor.fd(), 10, signal);
        puppet.call("F_SETOWN_EX to " + receiver, Syscall.FCNTL, descriptor.fd(), 15, puppet.structure().i32(type).i32(receiver).put());
    }

    private void owner(KernelObject.SignalOwner owner) {
        Descriptor any = anyOf(owner.object());
        receiver(puppet(any.pid()), any, owner.signal(), owner.type(), owner.receiver());
    }

    /** The same, and O_ASYNC by F_SETFL. */
    private void signal(KernelObject.SignalOnReady signals) {
        Descriptor any = anyOf(signals.object());
        Puppet puppet = puppet(any.pid());
        receiver(puppet, any, signals.signal(), signals.type(), signals.receiver());
        long flags = puppet.call("F_GETFL", Syscall.FCNTL, any.fd(), 3, 0);
        puppet.call("set O_ASYNC", Syscall.FCNTL, any.fd(), 4, flags | O_ASYNC);
    }

    Puppet puppet(int pid) {
        Puppet puppet = puppets.get(pid);
        if (puppet == null) {
            throw new RestoreException(RestoreException.Reason.FAILED, "the image names process " + pid + ", but does not hold it");
        }
        return puppet;
    }

    private <T extends KernelObject> List<T> objects(Class<T> type) {
        return image.objects().stream().filter(type::isInstance).map(type::cast).toList();
    }
}
