package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.files.FileObservers;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.KernelObject.AgentConnection;
import org.udckpt.process.model.KernelObject.DirectoryOrDevice;
import org.udckpt.process.model.KernelObject.OpenFile;
import org.udckpt.process.model.KernelObject.PseudoFile;
import org.udckpt.process.model.KernelObject.StandardStream;
import org.udckpt.process.model.Zombie;

/** Turns every descriptor of the stopped processes into a kernel object, or refuses it by name. */
final class DescriptorReader {
    /** Of /dev/{null,zero,full,random,urandom} and /dev/tty: makedev(major, minor). */
    private final CaptureRequest.StandardStreams streams;
    private final ObjectTable table;
    private final MemoryObjects memory;
    private final SocketReader sockets;
    private final PipeReader pipes;
    private final AnonymousReader anonymous;
    private final TerminalReader terminals;
    private final SignalOwners signals;
    private final OpenedByName names = new OpenedByName();
    private final List<Descriptor> descriptors = new ArrayList<>();
    private final Map<TracedProcess, List<OpenDescriptor>> open = new HashMap<>();
    private final FileObservers observers;

    DescriptorReader(CaptureRequest request, ObjectTable table, MemoryObjects memory) {
        this.streams = request.streams();
        this.observers = new FileObservers(request.leases());
        this.table = table;
        this.memory = memory;
        this.sockets = new SocketReader(table);
        this.pipes = new PipeReader(table);
        this.anonymous = new AnonymousReader(table);
        this.terminals = new TerminalReader(table);
        this.signals = new SignalOwners(table);
    }

    List<Descriptor> descriptors() {
        return descriptors;
    }

    /**
     * Lists the descriptors of {@code process}. For all processes before the first {@link #read}, which opens files: by then it is known who would notice, and
     * what is refused.
     */
    void look(TracedProcess process) {
        List<OpenDescriptor> own = new ArrayList<>();
        for (int fd : Proc.descriptors(process.pid)) {
            OpenDescriptor one = OpenDescriptor.of(process, fd);
            own.add(one);
            observers.see(one.info());
            LockReader.refuse(one);
            AnonymousReader.refuse(one);
            memory.seen(one);
        }
        open.put(process, own);
    }

    /** Each process before the first {@link #read}, when it is known what its threads are called. */
    void known(TracedProcess process) {
        names.seen(process);
    }

    /** Each child that has ended, before the first {@link #read}. */
    void known(Zombie zombie) {
        names.ended(zombie);
    }

    /** Before the first {@link #read}. */
    void openBy(QuietFiles opener) {
        anonymous.openBy(opener);
    }

    /** Complete when all processes have been looked at. */
    FileObservers observers() {
        return observers;
    }

    /** All descriptors of {@code process}; roots before their children, so that the library's are known in the children. */
    void read(TracedProcess process, CaptureRequest.Root root) {
        terminals.seen(process);
        signals.seen(process);
        sockets.seen(process);
        int pmi = process.root() ? pmi(root) : CaptureRequest.NONE;
        CaptureRequest.Library library = process.library;
        int[] owned = library == null ? new int[0] : library.ownedDescriptors();
        int control = library == null ? CaptureRequest.NONE : library.controlDescriptor();
        for (OpenDescriptor open : this.open.get(process)) {
            int fd = open.fd();
            long object = table.find(open);
            boolean first = object < 0;
            if (first) {
                object = contains(owned, fd) ? ObjectTable.OWNED : create(open, control, pmi);
                table.remember(open, object);
            }
            if (object == ObjectTable.OWNED) {
                process.ownedDescriptors = Arrays.copyOf(process.ownedDescriptors, process.ownedDescriptors.length + 1);
                process.ownedDescriptors[process.ownedDescriptors.length - 1] = fd;
            } else {
                descriptors.add(new Descriptor(process.namespacePid, fd, open.closeOnExec(), object));
                anonymous.seen(open, object);
                LockReader.read(open, object, first, table, signals);
                if (first) {
                    if (fd != control && fd != pmi && streams.match(fd, open.stat()) < 0) {
                        owner(open, object);
                    }
                    signals.seen(open, object);
                }
            }
        }
    }

    /** Where root makes them again, sockets and pipes of those who were root no more would be root's. */
    private void owner(OpenDescriptor open, long object) {
        boolean named = open.link().startsWith("socket:") || open.link().startsWith("pipe:");
        if (named && User.id() == 0 && (open.stat().uid() != 0 || open.stat().gid() != 0)) {
            table.add(Attribute.of(AttributeKind.OBJECT_OWNER, open.process().namespacePid, 0, object, Integer.toUnsignedLong(open.stat().uid()), Integer.toUnsignedLong(open.stat().gid())));
        }
    }

    /** Of unix sockets. */
    PeerCredentialReader peers() {
        return sockets.peers();
    }

    /** When all processes have been read: objects that point to others. */
    void finish() {
        pipes.finish();
        sockets.finish();
        anonymous.finish();
        terminals.finish();
        signals.finish();
    }

    private long create(OpenDescriptor open, int control, int pmi) {
        boolean rankItself = open.process().root();
        int stream = streams.match(open.fd(), open.stat());
        if (open.fd() == control) {
            return add(id -> new AgentConnection(id, open.openFlags()));
        }
        if (rankItself && open.fd() == pmi && open.link().startsWith("socket:")) {
            return sockets.processManager(open);
        }
        if (stream >= 0) {
            return add(id -> new StandardStream(id, stream, open.openFlags()));
        }
        if ((open.flags() & Syscall.O_PATH) != 0) {
            if (!open.link().startsWith("/") || open.link().endsWith(" (deleted)") || open.link().startsWith("/memfd:")) {
                throw open.refuse("an O_PATH descriptor of " + open.link() + ", which has no name to open it by again, cannot be checkpointed; close it first");
            }
            String name = names.ofTheSame(open);
            return add(id -> new DirectoryOrDevice(id, name, open.openFlags(), 0));
        }
        return byLink(open);
    }

    private long byLink(OpenDescriptor open) {
        String link = open.link();
        if (link.startsWith("socket:")) {
            return sockets.read(open);
        }
        if (link.startsWith("pipe:")) {
            return pipes.read(open);
        }
        if (link.startsWith("anon_inode:")) {
            return anonymous.read(open);
        }
        if (link.startsWith("/")) {
            return byType(open);
        }
        throw open.refuse(link + " is a kind of descriptor that cannot be checkpointed; close it first");
    }

    private long byType(OpenDescriptor open) {
        String link = open.link();
        if (link.startsWith("/proc/") || link.startsWith("/sys/")) {
            String name = names.pseudo(open);
            return add(id -> new PseudoFile(id, name, open.openFlags(), open.position()));
        }
        return switch (open.stat().type()) {
            case Files.Stat.REGULAR -> regular(open);
            case Files.Stat.DIRECTORY -> directory(open);
            case Files.Stat.FIFO -> pipes.read(open);
            case Files.Stat.CHARACTER -> device(open);
            default -> throw open.refuse(link + " is neither a file, a directory nor a pipe; close it before a checkpoint");
        };
    }

    private long directory(OpenDescriptor open) {
        if (open.link().endsWith(" (deleted)")) {
            throw open.refuse(open.link() + ": a deleted directory cannot be opened again");
        }
        String name = names.ofTheSame(open);
        return add(id -> new DirectoryOrDevice(id, name, open.openFlags(), open.position()));
    }

    private long regular(OpenDescriptor open) {
        long backing = memory.ofFile(open);
        if (backing == 0) {
            names.file(open);
        }
        Files.Stat stat = open.stat();
        return add(id -> new OpenFile(id, MemoryObjects.name(open.link()), open.openFlags(), open.position(), stat.size(), stat.mode() & 07777,
                stat.device(), stat.inode(), stat.modified(), backing));
    }

    private long device(OpenDescriptor open) {
        if (TerminalReader.isTerminal(open.stat())) {
            return terminals.read(open);
        }
        String stateless = names.device(open);
        if (stateless != null) {
            return add(id -> new DirectoryOrDevice(id, stateless, open.openFlags(), 0));
        }
        if (open.link().startsWith("/dev/infiniband/")) {
            throw open.refuse(open.link() + " was opened behind the library; only verbs that go through libibverbs.so.1 can be checkpointed (is LD_PRELOAD"
                    + " cleared, is libibverbs linked statically, or opened by dlmopen(3)?)");
        }
        throw open.refuse("device " + open.link() + " cannot be checkpointed; close it first, or redirect standard streams to files");
    }

    private int pmi(CaptureRequest.Root root) {
        if (root.pmiDescriptor() != CaptureRequest.NONE) {
            return root.pmiDescriptor();
        }
        String value = Environment.of(root.pid(), "PMI_FD");
        return value == null ? CaptureRequest.NONE : Integer.parseInt(value);
    }

    private interface Maker {
        KernelObject make(long id);
    }

    private long add(Maker maker) {
        long id = table.newId();
        table.add(maker.make(id));
        return id;
    }

    private static boolean contains(int[] numbers, int wanted) {
        for (int number : numbers) {
            if (number == wanted) {
                return true;
            }
        }
        return false;
    }
}
