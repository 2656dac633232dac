package org.udckpt.process.capture;

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
final class ObjectTable {
    /** The object of a descriptor that belongs to the library. */
    static final long OWNED = 0;
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

    ObjectTable(Outside outside) {
        this.outside = outside;
    }

    Outside outside() {
        return outside;
    }

    long newId() {
        return ++lastId;
    }

    void add(KernelObject object) {
        objects.add(object);
    }

    void add(TcpSocket socket) {
        tcpSockets.add(socket);
    }

    void add(PacketSocket socket) {
        packetSockets.add(socket);
    }

    void add(TerminalObject terminal) {
        terminals.add(terminal);
    }

    void add(InotifyWatch watch) {
        watches.add(watch);
    }

    void add(FileNotice notice) {
        notices.add(notice);
    }

    List<FileNotice> notices() {
        return notices;
    }

    void add(JobName name) {
        names.add(name);
    }

    void add(Attribute owner) {
        owners.add(owner);
    }

    /** {@link AttributeKind#OBJECT_OWNER} and {@link AttributeKind#PEER_CREDENTIALS}. */
    List<Attribute> owners() {
        return owners;
    }

    List<JobName> names() {
        return names;
    }

    List<InotifyWatch> watches() {
        return watches;
    }

    List<KernelObject> objects() {
        return objects;
    }

    List<TcpSocket> tcpSockets() {
        return tcpSockets;
    }

    List<PacketSocket> packetSockets() {
        return packetSockets;
    }

    List<TerminalObject> terminals() {
        return terminals;
    }

    /** The id of the same open file seen before, or -1. */
    long find(OpenDescriptor descriptor) {
        List<Known> same = byKey.computeIfAbsent(descriptor.key(), unused -> new ArrayList<>());
        int at = search(same, descriptor);
        missed = at < 0 ? new Missed(descriptor, -at - 1) : null;
        return at < 0 ? -1 : same.get(at).object;
    }

    /** Right after {@link #find} has answered -1. */
    void remember(OpenDescriptor descriptor, long object) {
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
        long result = LinuxError.check(Syscall.call(Syscall.KCMP, a.process().pid, b.process().pid, KCMP_FILE, a.fd(), b.fd()), "kcmp of descriptors");
        return switch ((int) result) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> 1;
            default -> throw new CaptureFailed("kcmp does not order descriptor %d of process %d and %d of process %d"
                    .formatted(a.fd(), a.process().pid, b.fd(), b.process().pid));
        };
    }
}
