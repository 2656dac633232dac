package org.udckpt.process.kinds.mqueue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.IpcGroup;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.model.IpcPlace;

/**
 * POSIX message queues of the job. Their messages are taken out and sent again while the job stands still, which is
 * nobody's business but the job's: a queue that another process has open, too, is refused.
 */
final class PosixQueueCapture implements KindCapture, KindCapture.Looks {
    private static final String OWN_NAMESPACE = Files.readLink("/proc/self/ns/ipc");

    private final CaptureScope scope;
    private final Map<FoundQueue.Key, FoundQueue> open = new LinkedHashMap<>();
    private final Map<FoundQueue.Key, Long> ids = new HashMap<>();
    private final Map<FoundQueue.Key, IpcGroup> groups = new HashMap<>();

    PosixQueueCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public void look(OpenDescriptor descriptor) {
        if (!descriptor.onlyNames() && descriptor.messageQueue()) {
            FoundQueue queue = FoundQueue.of(descriptor);
            open.putIfAbsent(queue.key(), queue);
        }
    }

    /** Here nobody has forked a copy of a descriptor, and what processes have noted can be read. */
    @Override
    public void ask(IpcGroup group) {
        AskedProcess caller = group.caller();
        List<AskedProcess> processes = group.job();
        boolean shared = OWN_NAMESPACE.equals(Files.readLink("/proc/" + caller.task() + "/ns/ipc"));
        List<FoundQueue> opened =
                open.values().stream().filter(queue -> group.has(queue.stat().device())).toList();
        List<FoundQueue> unopened = QueueDirectory.unopened(group, shared, open.keySet());
        if (opened.isEmpty() && unopened.isEmpty()) {
            return;
        }
        Set<FoundQueue.Key> all = opened.stream().map(FoundQueue::key).collect(Collectors.toCollection(HashSet::new));
        unopened.forEach(queue -> all.add(queue.key()));
        QueueUsers users = shared ? new QueueUsers(all, processes) : QueueUsers.NONE;
        for (FoundQueue queue : opened) {
            if (users.of(queue) != null) {
                throw queue.refuse("is also open in process " + users.of(queue) + ", which is not of the job, and would"
                        + " not have it in common with the job after a restart; let only the job use it");
            }
        }
        for (FoundQueue queue : opened) {
            ids.put(queue.key(), read(queue, group));
            groups.put(queue.key(), group);
        }
        // who has made a queue that nobody has open is not known: messages of strangers are not touched
        unopened.stream().filter(queue -> users.of(queue) == null && (!shared || status(queue).waiting() == 0))
                .forEach(queue -> read(queue, group));
    }

    private long read(FoundQueue queue, IpcGroup group) {
        List<AskedProcess> processes = group.members();
        Files.Stat stat = queue.stat();
        if (User.id() != 0 && stat.uid() != User.id()) {
            throw queue.refuse("belongs to user " + Integer.toUnsignedString(stat.uid())
                    + ", and only root can make it again for another user; let the job make its own");
        }
        QueueStatus status = status(queue);
        AskedProcess notified = notified(queue, status, processes);
        QueueNote note = notified == null ? null : QueueNote.of(notified, stat.inode());
        if (notified != null && status.notification() == PosixQueue.SIGEV_SIGNAL && note == null) {
            throw queue.refuse("is to send a signal (mq_notify(3)) whose value is not known: the preloaded library "
                    + "notes it, and the kernel does not tell; link the program dynamically, or end the notification "
                    + "first");
        }
        CopiedMessages messages = status.waiting() == 0 ? CopiedMessages.NONE
                : CopiedMessages.of(queue, scope.shepherd(), Math.toIntExact(status.mostMessages()));
        if (messages.lengths().length != status.waiting()) {
            throw queue.failed("had " + status.waiting() + " messages, and then " + messages.lengths().length);
        }
        long id = scope.table().newId();
        scope.table().add(new PosixQueue(id, queue.name(), stat.links() == 0, stat.mode() & 07777, stat.uid(),
                stat.gid(), status.mostMessages(), status.longestMessage(), messages.priorities(),
                messages.lengths(),
                messages.contents(), notified == null ? 0 : notified.namespacePid(),
                notified == null ? PosixQueue.SIGEV_NONE : status.notification(), status.signal(),
                note == null ? 0 : note.value(), note == null ? 0 : note.address()));
        if (group.id() != 0) {
            scope.table().add(new IpcPlace(scope.table().newId(), id, group.id()));
        }
        return id;
    }

    private static QueueStatus status(FoundQueue queue) {
        long fd = Files.tryOpen(queue.path(), Syscall.O_RDWR | Syscall.O_NONBLOCK);
        if (fd < 0) {
            throw queue.refuse("cannot be looked at: " + LinuxError.name((int) -fd) + "; permit it (fchmod(2), u+rw)");
        }
        try {
            return QueueStatus.of((int) fd);
        } finally {
            Files.close((int) fd);
        }
    }

    /** Null: nobody is. */
    private static AskedProcess notified(FoundQueue queue, QueueStatus status, List<AskedProcess> processes) {
        if (status.notified() == 0) {
            return null;
        }
        if (status.notification() == PosixQueue.SIGEV_THREAD) {
            throw queue.refuse("is to start a thread when a message comes (mq_notify(3), SIGEV_THREAD), which cannot be"
                    + " checkpointed; use a signal, or a thread that receives");
        }
        if (status.waiting() > 0 && status.mostMessages() == 1) {
            throw queue.failed("has room for one message, which waits, and notifies of the next one (mq_notify(3)): to "
                    + "look at the message would use the notification up");
        }
        return processes.stream().filter(one -> one.pid() == status.notified()).findFirst()
                .orElseThrow(() -> queue.refuse("notifies process " + status.notified()
                        + ", which is not of the job; let only the job use it"));
    }

    @Override
    public boolean takes(OpenDescriptor descriptor) {
        return descriptor.messageQueue();
    }

    @Override
    public long read(OpenDescriptor descriptor) {
        IpcGroup group = groups.get(FoundQueue.Key.of(descriptor.stat()));
        boolean its = group != null && (group.id() == 0 ? descriptor.process().ipcNamespace() == 0
                : group.members().stream().anyMatch(member -> member.pid() == descriptor.process().pid()));
        if (!its) {
            throw descriptor.refuse(descriptor.link() + " is a message queue of an IPC namespace in which this "
                    + "process is not, and cannot be checkpointed; close it first");
        }
        long id = scope.table().newId();
        scope.table().add(new OpenPosixQueue(id, ids.get(FoundQueue.Key.of(descriptor.stat())),
                descriptor.openFlags()));
        return id;
    }
}
