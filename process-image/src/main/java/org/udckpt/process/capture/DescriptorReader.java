package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.udckpt.linux.Files;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Proc;
import org.udckpt.linux.User;
import org.udckpt.process.files.FileObservers;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.base.IpcGroup;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.OpenedByName;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.kinds.mount.MountNamespace;
import org.udckpt.process.kinds.namespace.JobNetworks;
import org.udckpt.process.kinds.refused.RefusedDescriptors;
import org.udckpt.process.kinds.refused.RefusedInNamespaces;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketType;
import org.udckpt.process.kinds.thread.ThreadDescriptor;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.OutsidePath;
import org.udckpt.process.model.Zombie;

/**
 * Turns every descriptor of the stopped processes into a kernel object, by the kind that takes it, or refuses it by
 * name.
 */
final class DescriptorReader {
    private final ObjectTable table;
    private final MemoryObjects memory;
    private final DescriptorScope scope;
    /** Known by where a descriptor comes from. */
    private final List<KindCapture> given;
    private final List<KindCapture> kinds;
    /** All of them, in their order. */
    private final List<KindCapture> all;
    private final List<SocketCapture> sockets;
    private final List<KindCapture.Looks> looking;
    private final List<KindCapture.Sees> seeing;
    private final JobNetworks networks;
    private final List<Descriptor> descriptors = new ArrayList<>();
    /** By table: of a process, or of a thread. */
    private final Map<StoppedProcess, List<OpenDescriptor>> open = new LinkedHashMap<>();
    private final FileObservers observers;
    private final FilesInFlight inFlight = new FilesInFlight();

    DescriptorReader(CaptureRequest request, ObjectTable table, MemoryObjects memory, JobNetworks networks) {
        this.networks = networks;
        this.observers = new FileObservers(request.leases());
        this.table = table;
        this.memory = memory;
        this.scope = new DescriptorScope(table, request, memory, inFlight, this::look);
        Map<ObjectKinds, KindCapture> captures = ObjectKinds.captures(scope);
        this.all = List.copyOf(captures.values());
        this.given = captures.entrySet().stream().filter(one -> one.getKey().given()).map(Map.Entry::getValue).toList();
        this.kinds =
                captures.entrySet().stream().filter(one -> !one.getKey().given()).map(Map.Entry::getValue).toList();
        this.sockets = those(SocketCapture.class);
        this.looking = those(KindCapture.Looks.class);
        this.seeing = those(KindCapture.Sees.class);
    }

    private <T> List<T> those(Class<T> type) {
        return all.stream().filter(type::isInstance).map(type::cast).toList();
    }

    List<Descriptor> descriptors() {
        return descriptors;
    }

    /** What kinds ask by calls in {@code caller}; on its tracer thread, before the first {@link #read}. */
    void ask(TracedProcess caller, List<TracedProcess> processes) {
        all.forEach(kind -> kind.ask(caller, List.copyOf(processes)));
    }

    /** The same in an IPC namespace, on the tracer thread of the group's caller. */
    void ask(IpcGroup group) {
        all.forEach(kind -> kind.ask(group));
    }

    /**
     * Lists the descriptors of {@code process}. Call it for every process before any {@link #read}: read opens files,
     * and their observers and the refusals must be known by then.
     */
    void look(TracedProcess process) {
        tables(process).forEach(table -> {
            List<OpenDescriptor> own = opened(table);
            own.forEach(this::look);
            open.put(table, own);
        });
    }

    /** The process's, and those of its threads that have their own. */
    private static List<StoppedProcess> tables(TracedProcess process) {
        List<StoppedProcess> tables = new ArrayList<>(List.of(process));
        process.ownTables().forEach(thread -> tables.add(new ThreadTable(process, thread)));
        return tables;
    }

    private static List<OpenDescriptor> opened(StoppedProcess process) {
        return Arrays.stream(Proc.descriptors(process.task())).mapToObj(fd -> open(process, fd)).toList();
    }

    /**
     * The same when what rings had in flight is done (io_uring(7)): it may have opened, closed and read since
     * {@link #look}.
     */
    void lookAgain(TracedProcess process) {
        tables(process).forEach(this::lookAgainAt);
    }

    private void lookAgainAt(StoppedProcess process) {
        Map<Integer, OpenDescriptor> before = new HashMap<>();
        open.get(process).forEach(one -> before.put(one.fd(), one));
        List<OpenDescriptor> own = opened(process);
        for (OpenDescriptor one : own) {
            OpenDescriptor known = before.get(one.fd());
            if (known == null || !known.link().equals(one.link()) || !known.stat().isSame(one.stat())) {
                look(one);
            } else {
                before.remove(one.fd());
            }
        }
        before.values().forEach(memory::gone);
        own.forEach(memory::seen);
        open.put(process, own);
    }

    private void look(OpenDescriptor one) {
        observers.see(one.info());
        looking.forEach(kind -> kind.look(one));
        memory.seen(one);
    }

    /** What /proc shows of it. */
    static OpenDescriptor open(StoppedProcess process, int fd) {
        String path = "/proc/" + process.task() + "/fd/" + fd;
        String info = Proc.whole("/proc/" + process.task() + "/fdinfo/" + fd);
        String link = Files.readLink(path);
        Files.Stat stat = Files.tryStat(path);
        String gone = stat == null && link != null ? OpenedByName.goneOwner(link) : null;
        if (gone != null) {
            throw process.refuse(fd, gone + "; close it first");
        }
        return new OpenDescriptor(process, fd, link, info, Integer.parseInt(Proc.field(info, "flags:"), 8),
                Long.parseLong(Proc.field(info, "pos:")), stat != null ? stat : Files.stat(path));
    }

    /** Each process before the first {@link #read}, when it is known what its threads are called. */
    void known(TracedProcess process) {
        scope.names().seen(process);
    }

    /** Each child that has ended, before the first {@link #read}. */
    void known(Zombie zombie) {
        scope.ended(zombie);
    }

    /** Before the first {@link #read}. */
    void openBy(QuietFiles opener) {
        scope.openBy(opener);
    }

    /** Complete when all processes have been looked at. */
    FileObservers observers() {
        return observers;
    }

    /**
     * All descriptors of {@code process}; roots before their children, so that the library's are known in the children.
     */
    void read(TracedProcess process, CaptureRequest.Root root) {
        scope.reading(process, root, open.get(process));
        int[] owned = process.library == null ? new int[0] : process.library.ownedDescriptors();
        for (OpenDescriptor one : open.get(process)) {
            long object = table.find(one);
            boolean first = object < 0;
            if (first) {
                object = Arrays.stream(owned).anyMatch(number -> number == one.fd()) ? ObjectTable.OWNED : create(one);
                table.remember(one, object);
            }
            if (object == ObjectTable.OWNED) {
                networks.refuseLibrary(process, one);
                process.ownedDescriptors = Arrays.copyOf(process.ownedDescriptors, process.ownedDescriptors.length + 1);
                process.ownedDescriptors[process.ownedDescriptors.length - 1] = one.fd();
            } else if (process.sharesDescriptors) { // the parent's
                descriptors.add(new Descriptor(process.namespacePid(), one.fd(), one.closeOnExec(), object));
            } else {
                add(one, object, first);
            }
        }
    }

    /** When all processes have been read: what is on its way to one, or a thread's own, and may be in none. */
    void readInFlight() {
        scope.readingInFlight();
        for (OpenDescriptor one : inFlight.all()) {
            inFlight.read(one, inNone(one));
        }
        open.forEach((process, all) -> {
            if (process instanceof ThreadTable thread) {
                all.forEach(one -> readOf(thread, one));
            }
        });
    }

    private void readOf(ThreadTable thread, OpenDescriptor one) {
        ThreadTable.refuseLock(one);
        table.add(new ThreadDescriptor(table.newId(), thread.namespacePid(), thread.thread().namespaceTid, one.fd(),
                one.closeOnExec(), inNone(one)));
    }

    /** The object of a descriptor that is in no process's table. */
    private long inNone(OpenDescriptor one) {
        long known = table.find(one);
        long object = known;
        if (known < 0) {
            RefusedDescriptors.refuseInFlight(one);
            object = create(one);
            table.remember(one, object);
        }
        if (object == ObjectTable.OWNED) {
            throw one.refuse("it is the library's own; close it first");
        }
        if (known < 0 || one.process() instanceof ThreadTable) {
            for (KindCapture.Sees kind : seeing) {
                kind.seen(one, object, known < 0);
            }
        }
        if (known < 0) {
            owner(one, object);
        }
        return object;
    }

    /** To be closed when all have been read. */
    FilesInFlight inFlight() {
        return inFlight;
    }

    private void add(OpenDescriptor open, long object, boolean first) {
        descriptors.add(new Descriptor(open.process().namespacePid(), open.fd(), open.closeOnExec(), object));
        for (KindCapture.Sees kind : seeing) {
            kind.seen(open, object, first);
        }
        if (first && !scope.given(open)) {
            owner(open, object);
        }
    }

    /** Where root makes them again, sockets and pipes of those who were root no more would be root's. */
    private void owner(OpenDescriptor open, long object) {
        boolean named = open.link().startsWith("socket:") || open.link().startsWith("pipe:");
        if (named && User.id() == 0 && (open.stat().uid() != 0 || open.stat().gid() != 0)) {
            table.add(Attribute.of(AttributeKind.OBJECT_OWNER, open.process().namespacePid(), 0, object,
                    Integer.toUnsignedLong(open.stat().uid()), Integer.toUnsignedLong(open.stat().gid())));
        }
    }

    /** Reads the peers of unix sockets. */
    PeerCredentialReader peers() {
        return scope.peers();
    }

    /** When all processes have been read: objects that point to others. */
    void finish() {
        all.forEach(KindCapture::finish);
        scope.peers().finish();
        scope.table().outside().check();
    }

    private long create(OpenDescriptor open) {
        TracedProcess holder = open.link().startsWith("/") ? ThreadTable.of(open.process()) : null;
        MountNamespace namespace = holder == null ? null : holder.mountNamespace;
        int mount = namespace == null ? 0 : Integer.parseInt(Proc.field(open.info(), "mnt_id:"));
        String before = namespace == null ? null : namespace.before(mount);
        if (before == null && namespace != null && namespace.isOthers(mount)) {
            throw open.refuse(open.link() + " was opened by way of a mount of another namespace, of which no process "
                    + "before this one has it open, and cannot be checkpointed; open it again, or close it first");
        }
        if (before == null) {
            RefusedInNamespaces.refuse(open);
            return make(open);
        }
        StoppedProcess process = open.process();
        StoppedProcess outside = new OutsideProcess(process, before, process.hasMountsOfItsOwn());
        long object = make(new OpenDescriptor(outside, open.fd(), open.link(), open.info(), open.flags(),
                open.position(), open.stat()));
        if (object != ObjectTable.OWNED) {
            table.add(new OutsidePath(table.newId(), process.mountNamespace(), open.link(), object));
        }
        return object;
    }

    private long make(OpenDescriptor open) {
        KindCapture kind = given.stream().filter(one -> one.takes(open)).findFirst().orElse(null);
        if (kind == null && !open.onlyNames() && open.link().startsWith("socket:")) {
            return socket(open);
        }
        Stream<KindCapture> asked = kinds.stream().filter(one -> !open.onlyNames() || one.takesHandles());
        kind = kind != null ? kind : asked.filter(one -> one.takes(open)).findFirst().orElse(null);
        if (kind == null) {
            throw refusal(open);
        }
        return kind.read(open);
    }

    private long socket(OpenDescriptor open) {
        return open.duplicated(socket -> {
            SocketType type = SocketType.of(socket);
            long[] object = new long[1];
            NetworkCalls.in(networks.of(open, socket), () -> {
                object[0] = sockets.stream()
                        .filter(kind -> kind.takes(type))
                        .findFirst()
                        .orElseThrow(() -> type.refusal(open))
                        .read(open, socket, type);
                sockets.forEach(kind -> kind.beside(open, socket, type, object[0]));
            });
            networks.made(open, socket, type.unix(), type.type(), object[0]);
            return object[0];
        });
    }

    private static RuntimeException refusal(OpenDescriptor open) {
        return open.link().startsWith("/") ? RefusedDescriptors.refusalOfFile(open) : RefusedDescriptors.refusal(open);
    }
}
