package org.udckpt.process.check;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.unix.UnixSocket;
import org.udckpt.process.kinds.unix.WaitingConnection;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PeerCredentials;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.StopSignals;
import org.udckpt.process.model.TcpError;
import org.udckpt.process.model.TcpSocket.TcpState;

/** Attributes: of whom they are. Whether their values can be is for the kernel to say. */
final class AttributeCheck {
    /** The highest uid and gid; the number above it means "none" or "unchanged" (setresuid(2)). */
    private static final long MOST_ID = 0xffff_fffeL;
    /** Of a process that nobody has logged in for (proc_pid_loginuid(5)). */
    private static final long UNSET = 0xffff_ffffL;

    /** With the parent. */
    private static final Set<AttributeKind> SHARED = EnumSet.of(AttributeKind.SHARED_DESCRIPTORS,
            AttributeKind.SHARED_DIRECTORIES, AttributeKind.SHARED_MEMORY, AttributeKind.SHARED_HANDLERS);

    private AttributeCheck() {}

    /** @param threads tid -> pid */
    static void check(JobImage image, Set<Integer> pids, Map<Integer, Integer> threads) throws BrokenTable {
        RowCheck row = new RowCheck("attributes");
        Set<Long> sockets = image.objects().stream()
                .filter(one -> one instanceof UnixSocket || one instanceof WaitingConnection).map(KernelObject::id)
                .collect(Collectors.toSet());
        Set<Long> inFlight = ObjectKinds.inFlight(image).keySet();
        for (Attribute attribute : image.attributes()) {
            row.next();
            row.notNull("the row", attribute);
            row.text("name", attribute.name());
            row.require(pids.contains(attribute.pid()), "pid %d is not a process of the image", attribute.pid());
            row.require(attribute.tid() == 0 || threads.getOrDefault(attribute.tid(), -1) == attribute.pid(),
                    "tid %d is not a thread of the process", attribute.tid());
            row.notNull("values", attribute.values());
            AttributeKind kind = attribute.kind();
            if (kind != null) { // else a restart refuses it
                row.length("values", attribute.values().length, 1, kind.mostValues(), 1);
            }
            if (kind == AttributeKind.ENDED_CHILD) {
                long[] values = attribute.values();
                row.length("values", values.length, 2, 2, 1);
                row.require(image.zombies().stream()
                        .anyMatch(one -> one.pid() == values[0] && one.parentPid() == attribute.pid()),
                        "pid %d is not a zombie child of the process", values[0]);
                row.between(0, MOST_ID, "uid", values[1]);
            }
            if (kind == AttributeKind.STOP_SIGNAL) {
                row.require(StopSignals.isOne(attribute.values()[0]), "signal %d does not stop a process",
                        attribute.values()[0]);
            }
            if (kind == AttributeKind.LOGIN_USER) {
                row.between(0, UNSET, "login uid", attribute.values()[0]);
            }
            if (kind == AttributeKind.MAIN_ENDED) {
                row.between(0, 0xff, "exit code", attribute.values()[0]);
                row.require(threads.values().stream().filter(pid -> pid == attribute.pid()).count() > 1,
                        "process %d has no other thread than its main one", attribute.pid());
            }
            if (kind == AttributeKind.TIMER_CLOCK) {
                row.require(attribute.tid() != 0 && image.timers().stream()
                        .anyMatch(one -> one.pid() == attribute.pid() && one.timer() == attribute.values()[0]
                                && PosixTimer.ofThread(one.clock())),
                        "timer %d is none of the process that runs by a thread's time", attribute.values()[0]);
            }
            if (kind == AttributeKind.OWN_DESCRIPTORS) {
                row.require(attribute.tid() != 0 && attribute.tid() != attribute.pid(),
                        "tid %d is a main thread, whose descriptors are the process's", attribute.tid());
            }
            if (kind == AttributeKind.PARENT) {
                row.between(2, Integer.MAX_VALUE, "parent pid", attribute.values()[0]);
            }
            if (SHARED.contains(kind)) {
                long with = attribute.values()[0];
                row.require(image.processes().stream()
                        .anyMatch(one -> one.pid() == attribute.pid() && one.parentPid() == with) && with > 0,
                        "process %d is not its parent", with);
                row.require(kind != AttributeKind.SHARED_DESCRIPTORS
                        || numbers(image, attribute.pid()).equals(numbers(image, with)),
                        "its descriptors are not those of process %d", with);
                row.require(kind != AttributeKind.SHARED_MEMORY
                        || image.regions().stream().noneMatch(one -> one.pid() == attribute.pid()),
                        "it has mappings of its own, and not those of process %d", with);
                row.require(kind != AttributeKind.SHARED_HANDLERS || image.attributes().stream()
                        .anyMatch(one -> one != null && one.kind() == AttributeKind.SHARED_MEMORY
                                && one.pid() == attribute.pid()),
                        "it has the signal handlers of process %d, and not its memory", with);
            }
            if (kind == AttributeKind.OBJECT_OWNER) {
                long[] values = attribute.values();
                row.length("values", values.length, 3, 3, 1);
                row.require(image.descriptors().stream()
                        .anyMatch(one -> one.pid() == attribute.pid() && one.object() == values[0])
                        || inFlight.contains(values[0]),
                        "the process has no descriptor of object %d", values[0]);
                row.between(0, MOST_ID, "uid", values[1]);
                row.between(0, MOST_ID, "gid", values[2]);
            }
            if (kind == AttributeKind.SOCKET_ERROR) {
                row.length("values", attribute.values().length, 2, 2, 1);
                long[] values = attribute.values();
                row.require(image.tcpSockets().stream()
                        .anyMatch(one -> one != null && one.id() == values[0] && one.state() == TcpState.CLOSED),
                        "object %d is not a closed TCP socket", values[0]);
                row.require(TcpError.of(values[1]) != null, "error %d is none that a restart can make", values[1]);
            }
            if (kind == AttributeKind.RELEASED_PORT) {
                long socket = attribute.values()[0];
                row.require(image.tcpSockets().stream()
                        .anyMatch(one -> one != null && one.id() == socket && one.state() == TcpState.UNCONNECTED),
                        "object %d is not a TCP socket that is not connected", socket);
            }
            if (kind == AttributeKind.CALLING) {
                long socket = attribute.values()[0];
                row.require(image.tcpSockets().stream()
                        .anyMatch(one -> one != null && one.id() == socket && one.state() == TcpState.UNCONNECTED
                                && one.remote() != null && one.remote().length > 0),
                        "object %d is not a TCP socket with somebody to call", socket);
            }
            if (kind == AttributeKind.PEER_CREDENTIALS) {
                row.require(PeerCredentials.possible(attribute.values()),
                        "pid, uid or a group of the socket's peer is missing or out of range (%d values)",
                        attribute.values().length);
                row.require(sockets.contains(attribute.values()[0]), "object %d is not a unix socket",
                        attribute.values()[0]);
            }
            if (attribute.start() != 0 || attribute.end() != 0) {
                RegionCheck.range(row, attribute.start(), attribute.end());
                row.require(kind == null || kind == AttributeKind.MEMORY_POLICY,
                        "start 0x%x is set, but only a memory attribute has an address range", attribute.start());
            }
        }
    }

    private static Map<Integer, Long> numbers(JobImage image, long pid) {
        return image.descriptors().stream().filter(one -> one.pid() == pid)
                .collect(Collectors.toMap(Descriptor::fd, Descriptor::object, (one, _) -> one));
    }
}
