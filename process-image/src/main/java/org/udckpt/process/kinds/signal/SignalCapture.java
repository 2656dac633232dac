package org.udckpt.process.kinds.signal;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.F_GETSIG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.kinds.lock.LockCapture;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.KernelObject;

/**
 * Whom open files signal when they are ready (O_ASYNC, fcntl(2)), or when something urgent has come. The kernel tells
 * it by the numbers of this process's namespace.
 */
final class SignalCapture implements KindCapture, KindCapture.Sees {
    private static final int F_GETOWN_EX = 16, F_OWNER_TID = 0, F_OWNER_PID = 1, GROUP = 5 - 3;

    private record Pending(OpenDescriptor open, long object) {}

    private record PendingLease(OpenDescriptor open, long object, boolean exclusive) {}

    /** What fcntl(2) says of a descriptor, by the job's own numbers. */
    private record Signal(int type, int receiver, int number) {}

    private final CaptureScope scope;
    private final ObjectTable table;
    private final List<Pending> pending = new ArrayList<>();
    private final List<PendingLease> leases = new ArrayList<>();
    private final Map<Integer, ProcessHandleFd> handles = new HashMap<>();

    SignalCapture(CaptureScope scope) {
        this.scope = scope;
        this.table = scope.table();
    }

    @Override
    public void seen(OpenDescriptor open, long object, boolean first) {
        if (!first) {
            return;
        }
        LockCapture.Lease lease = LockCapture.lease(open);
        if (lease != null && !lease.active()) {
            throw open.failed("the lease on " + open.link() + " is being broken by another process that opens it");
        }
        if (lease != null) {
            leases.add(new PendingLease(open, object, lease.exclusive()));
        }
        pending.add(new Pending(open, object));
    }

    /** When all processes have been seen. */
    @Override
    public void finish() {
        // A restart has other open files in their place, whose owner is whoever started the job.
        Set<Long> replaced = table.objects()
                .stream()
                .filter(KernelObject::replaced)
                .map(KernelObject::id)
                .collect(Collectors.toSet());
        try {
            Set<Long> leased = leases.stream().map(PendingLease::object).collect(Collectors.toSet());
            for (Pending one : pending) {
                if (one.open.signals()
                        || !leased.contains(one.object) && (one.open.flags() & Syscall.O_PATH) == 0
                                && !replaced.contains(one.object)) {
                    owner(one);
                }
            }
            for (PendingLease one : leases) {
                Signal signal = read(one.open, true);
                table.add(new FileNotice.Lease(one.object, one.exclusive, signal.type, signal.receiver, signal.number));
            }
        } finally {
            handles.values().forEach(ProcessHandleFd::close);
            handles.clear();
        }
    }

    private void owner(Pending one) {
        Signal signal = read(one.open, false);
        if (one.open.process().inFlight() && (signal.receiver != 0 || signal.number != 0)) {
            throw one.open.refuse("it is open in no process and sends signals (fcntl(2) F_SETOWN), which cannot be "
                    + "checkpointed; keep it open in one, too");
        }
        if (one.open.signals()) {
            table.add(new SignalOnReady(table.newId(), one.object, signal.type, signal.receiver, signal.number));
        } else if (signal.receiver != 0 || signal.number != 0) {
            table.add(new SignalOwner(table.newId(), one.object, signal.type, signal.receiver, signal.number));
        }
    }

    private Signal read(OpenDescriptor open, boolean leased) {
        int duplicate = handles.computeIfAbsent(open.process().task(), ProcessHandleFd::new).duplicate(open.fd());
        try {
            MemorySegment owner = Scratch.data(); // struct f_owner_ex {type, pid}
            LinuxError.check(Syscall.call(Syscall.FCNTL, duplicate, F_GETOWN_EX, owner.address()),
                    "owner of a descriptor's signals");
            int type = owner.get(JAVA_INT, 0);
            int id = owner.get(JAVA_INT, 4);
            int signal =
                    (int) LinuxError.check(Syscall.call(Syscall.FCNTL, duplicate, F_GETSIG), "signal of a descriptor");
            return new Signal(type, id == 0 ? 0 : own(open, type, id, leased), signal);
        } finally {
            Files.close(duplicate);
        }
    }

    /** The number in the job's own namespace. */
    private int own(OpenDescriptor open, int type, int id, boolean leased) {
        for (StoppedProcess process : scope.processes()) {
            if (type == F_OWNER_TID) {
                if (process.namespaceThread(id) != 0) {
                    return process.namespaceThread(id);
                }
            } else if (type == F_OWNER_PID ? process.pid() == id
                    : Integer.parseInt(Proc.stat(process.pid())[GROUP]) == id) {
                return type == F_OWNER_PID ? process.namespacePid() : process.namespaceGroup();
            }
        }
        throw open.refuse("it sends signals to " + new String[]{"thread", "process", "process group"}[type] + " " + id
                + ", which is outside of the job, "
                + (open.signals()
                        ? "when it is ready (O_ASYNC, fcntl(2) F_SETOWN); clear O_ASYNC first"
                        : leased
                                ? "when its lease is broken (fcntl(2), F_SETLEASE, F_SETOWN); release the lease first"
                                : "on urgent data (fcntl(2) F_SETOWN); set another owner first, or 0"));
    }
}
