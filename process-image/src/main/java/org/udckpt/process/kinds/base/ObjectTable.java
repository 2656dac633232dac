package org.udckpt.process.kinds.base;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TerminalObject;

/**
 * The kernel objects of a capture, each once. Two descriptors are the same open file when kcmp(2) says so; only those
 * with equal keys are compared, and kcmp's order makes that a binary search.
 */
public final class ObjectTable {
    /** The object of a descriptor that belongs to the library. */
    public static final long OWNED = 0;
    private static final int KCMP_FILE = 0;

    private record Known(OpenDescriptor descriptor, long object) {}

    /** Where in the order of its like the descriptor is that was not found last, which is remembered next. */
    private record Missed(OpenDescriptor descriptor, int at) {}

    private final List<KernelObject> objects = new ArrayList<>();
    private final List<TcpSocket> tcpSockets = new ArrayList<>();
    private final List<PacketSocket> packetSockets = new ArrayList<>();
    private final List<TerminalObject> terminals = new ArrayList<>();
    private final List<InotifyWatch> watches = new ArrayList<>();
    private final List<FileNotice> notices = new ArrayList<>();
    private final List<JobName> names = new ArrayList<>();
    private final List<Attribute> owners = new ArrayList<>();
    private final Map<String, List<Known>> byKey = new HashMap<>();
    private Missed missed;
    private final Outside outside;
    private long lastId;

    /** Empty. */
    public ObjectTable(Outside outside) {
        this.outside = outside;
    }

    /** Connections to processes outside of the job. */
    public Outside outside() {
        return outside;
    }

    /** An id that no other object has. */
    public long newId() {
        return ++lastId;
    }

    /** A row of its table. */
    public void add(KernelObject object) {
        objects.add(object);
    }

    /** A row of its table. */
    public void add(TcpSocket socket) {
        tcpSockets.add(socket);
    }

    /** A row of its table. */
    public void add(PacketSocket socket) {
        packetSockets.add(socket);
    }

    /** A row of its table. */
    public void add(TerminalObject terminal) {
        terminals.add(terminal);
    }

    /** A row of its table. */
    public void add(InotifyWatch watch) {
        watches.add(watch);
    }

    /** A row of its table. */
    public void add(FileNotice notice) {
        notices.add(notice);
    }

    /** The rows of their table. */
    public List<FileNotice> notices() {
        return notices;
    }

    /** A row of its table. */
    public void add(JobName name) {
        names.add(name);
    }

    /** A row of its table. */
    public void add(Attribute owner) {
        owners.add(owner);
    }

    /** What the kernel keeps for objects. */
    public List<Attribute> owners() {
        return owners;
    }

    /** The rows of their table. */
    public List<JobName> names() {
        return names;
    }

    /** The rows of their table. */
    public List<InotifyWatch> watches() {
        return watches;
    }

    /** The rows of their table. */
    public List<KernelObject> objects() {
        return objects;
    }

    /** The rows of their table. */
    public List<TcpSocket> tcpSockets() {
        return tcpSockets;
    }

    /** The rows of their table. */
    public List<PacketSocket> packetSockets() {
        return packetSockets;
    }

    /** The rows of their table. */
    public List<TerminalObject> terminals() {
        return terminals;
    }

    /** The id of the same open file seen before, or -1. */
    public long find(OpenDescriptor descriptor) {
        List<Known> same = byKey.computeIfAbsent(descriptor.key(), unused -> new ArrayList<>());
        int at = search(same, descriptor);
        missed = at < 0 ? new Missed(descriptor, -at - 1) : null;
        return at < 0 ? -1 : same.get(at).object;
    }

    /** Right after {@link #find} has answered -1. */
    public void remember(OpenDescriptor descriptor, long object) {
        if (missed == null || missed.descriptor != descriptor) {
            throw new IllegalStateException(descriptor + " was not looked for last");
        }
        byKey.get(descriptor.key()).add(missed.at, new Known(descriptor, object));
        missed = null;
    }

    private static int search(List<Known> sorted, OpenDescriptor wanted) {
        int low = 0;
        int high = sorted.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = compare(sorted.get(middle).descriptor, wanted);
            if (order == 0) {
                return middle;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -low - 1;
    }

    private static int compare(OpenDescriptor a, OpenDescriptor b) {
        long result = LinuxError.check(
                Syscall.call(Syscall.KCMP, a.process().task(), b.process().task(), KCMP_FILE, a.fd(), b.fd()),
                "kcmp of descriptors");
        return switch ((int) result) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> 1;
            default -> throw a.failed("kcmp(2) cannot order it relative to descriptor %d of process %d"
                    .formatted(b.fd(), b.process().pid()));
        };
    }
}
