package org.udckpt.process.kinds.mqueue;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.IpcMembers;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.Descriptor;

/**
 * Makes message queues in the job's own IPC namespaces, where all names are free. One that has lost its name gets it,
 * is opened by it, and loses it again; so these come before those that have the same name now.
 */
final class PosixQueueRestore implements KindRestore<OpenPosixQueue> {
    private static final int RLIMIT_MSGQUEUE = 12, OWNER = 0600, RESERVED = 4;
    private static final long INFINITY = -1;
    /** struct sigevent. */
    private static final int EVENT_BYTES = 64, EVENT_BEGIN = 16;

    private final RestoreScope scope;
    private final IpcMembers members;
    /** Inode numbers, by the ids of queues. */
    private final Map<Long, Long> inodes = new HashMap<>();

    PosixQueueRestore(RestoreScope scope) {
        this.scope = scope;
        this.members = new IpcMembers(scope);
    }

    @Override
    public void makeTogether() {
        List<PosixQueue> queues = new ArrayList<>(scope.objects(PosixQueue.class));
        queues.sort((one, other) -> Boolean.compare(other.unlinked(), one.unlinked()));
        queues.forEach(this::make);
    }

    private List<OpenPosixQueue> opens(PosixQueue queue) {
        return scope.objects(OpenPosixQueue.class).stream().filter(one -> one.queue() == queue.id()).toList();
    }

    private void make(PosixQueue queue) {
        List<OpenPosixQueue> opens = opens(queue);
        Maker maker = opens.stream().map(open -> scope.maker(open.id())).filter(Objects::nonNull).findFirst()
                .orElseGet(() -> members.user(queue.id(), 0));
        raiseLimit(maker);
        long attributes = maker.structure().i64(0).i64(queue.mostMessages()).i64(queue.longestMessage()).i64(0)
                .raw(new byte[RESERVED * Long.BYTES]).put();
        long made = maker.tryCall(Syscall.MQ_OPEN, maker.string(queue.queueName()),
                Syscall.O_CREAT | Syscall.O_EXCL | Syscall.O_RDWR | Syscall.O_NONBLOCK, OWNER, attributes);
        if (made < 0) {
            throw refusal(maker, queue, (int) -made);
        }
        try (ProcessHandleFd process = new ProcessHandleFd(maker.hostPid())) {
            int here = process.duplicate((int) made);
            try {
                Files.attributes(here, queue.what(), -1, -1, OWNER, 0); // whatever the umask is now
                inodes.put(queue.id(), Files.stat(here).inode());
                send(maker, queue, here);
                opens.forEach(open -> open(queue, open));
                finish(maker, queue, here);
            } finally {
                Files.close(here);
            }
        }
        maker.call("close", Syscall.CLOSE, made);
    }

    /** All that this process may have: its own limit comes back later. */
    private static void raiseLimit(Maker maker) {
        if (setLimit(maker, INFINITY) < 0) {
            long now = maker.structure().i64(0).i64(0).put();
            maker.call("ask for the limit of message queues", Syscall.PRLIMIT64, 0, RLIMIT_MSGQUEUE, 0, now);
            setLimit(maker, ByteBuffer.wrap(maker.read(now + Long.BYTES, Long.BYTES)).order(ByteOrder.LITTLE_ENDIAN)
                    .getLong());
        }
    }

    private static long setLimit(Maker maker, long limit) {
        return maker.tryCall(Syscall.PRLIMIT64, 0, RLIMIT_MSGQUEUE, maker.structure().i64(limit).i64(limit).put(), 0);
    }

    private static RuntimeException refusal(Maker maker, PosixQueue queue, int error) {
        String what = "make " + queue.what() + " for " + queue.mostMessages() + " messages of up to "
                + queue.longestMessage() + " bytes: " + LinuxError.name(error);
        return switch (error) {
            case LinuxError.EMFILE -> maker.unsupported(what + "; remove the queues that the killed job has left, "
                    + "which count as well (/dev/mqueue/" + queue.queueName() + "), or raise the limit of message "
                    + "queues (ulimit -q)");
            case LinuxError.EINVAL, LinuxError.ENOSPC -> maker.unsupported(what + "; see the limits fs.mqueue.msg_max,"
                    + " fs.mqueue.msgsize_max and fs.mqueue.queues_max (sysctl), which only root's restart takes over"
                    + " from this machine");
            default -> maker.failed(what);
        };
    }

    /** From this process, whose memory has room for the longest message. */
    private static void send(Maker maker, PosixQueue queue, int here) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(Math.max(1, queue.messages().length));
            MemorySegment.copy(queue.messages(), 0, all, JAVA_BYTE, 0, queue.messages().length);
            long at = all.address();
            for (int i = 0; i < queue.priorities().length; i++) {
                long result = Syscall.call(Syscall.MQ_TIMEDSEND, here, at, queue.messageLengths()[i],
                        queue.priorities()[i], 0);
                if (result < 0) {
                    throw maker.failed("send a message to " + queue.what() + ": " + LinuxError.name((int) -result));
                }
                at += queue.messageLengths()[i];
            }
        }
    }

    /** By its name: what open(2) opens has O_LARGEFILE, which nothing takes away. */
    private void open(PosixQueue queue, OpenPosixQueue open) {
        Maker maker = scope.maker(open.id());
        if (maker != null) {
            long fd = maker.call("open " + queue.what(), Syscall.MQ_OPEN, maker.string(queue.queueName()),
                    open.flags() & ~(Syscall.O_CREAT | Syscall.O_EXCL), 0, 0);
            scope.made().add(maker, open.id(), fd);
        }
    }

    private static void finish(Maker maker, PosixQueue queue, int here) {
        if (queue.unlinked()) {
            maker.call("remove the name of " + queue.what(), Syscall.MQ_UNLINK, maker.string(queue.queueName()));
        }
        Files.attributes(here, queue.what(), User.id() == 0 ? queue.uid() : -1, User.id() == 0 ? queue.gid() : -1,
                queue.mode(), 0);
    }

    /** The library knows a queue by its inode. */
    @Override
    public void finishMemory() {
        for (PosixQueue queue : scope.objects(PosixQueue.class)) {
            if (queue.notified() != 0 && queue.note() != 0) {
                scope.write(scope.process(queue.notified()), queue.note(), ByteBuffer.allocate(Long.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN).putLong(inodes.get(queue.id())).array());
            }
        }
    }

    /** Now: a process that closes any descriptor of a queue is notified of nothing any more (mq_close(3)). */
    @Override
    public void placed() {
        for (PosixQueue queue : scope.objects(PosixQueue.class)) {
            if (queue.notified() != 0) {
                notify(queue);
            }
        }
    }

    private void notify(PosixQueue queue) {
        List<Long> opens = opens(queue).stream().map(OpenPosixQueue::id).toList();
        Descriptor any = scope.image().descriptors().stream()
                .filter(one -> one.pid() == queue.notified() && opens.contains(one.object())).findFirst()
                .orElseThrow(() -> scope.inconsistent("the image is inconsistent: process " + queue.notified()
                        + " is notified by " + queue.what() + ", which it does not have open"));
        Maker maker = scope.process(queue.notified());
        long event = maker.structure().i64(queue.signalValue()).i32(queue.signal()).i32(queue.notification())
                .raw(new byte[EVENT_BYTES - EVENT_BEGIN]).put();
        maker.call("ask for the notification of " + queue.what(), Syscall.MQ_NOTIFY, any.fd(), event);
    }
}
