package org.udckpt.process.kinds.iouring;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.Region;

/** Sets rings up again, maps them, counts them on to where they were, and puts their memory back. */
final class IoUringRestore implements KindRestore<IoUring> {
    private static final int REGISTER_BUFFERS = 0, REGISTER_EVENTFD = 4, REGISTER_EVENTFD_ASYNC = 7,
            REGISTER_ENABLE_RINGS = 12;
    private static final int ENTER_SQ_WAKEUP = 2;
    private static final long POLLING_NS = TimeUnit.SECONDS.toNanos(10);

    private final RestoreScope scope;
    /** The process that holds each. */
    private final Map<IoUring, Maker> makers = new HashMap<>();

    IoUringRestore(RestoreScope scope) {
        this.scope = scope;
    }

    /** All are made in the process whose thread uses them, also where another one has the descriptor only. */
    @Override
    public void makeTogether() {
        for (IoUring ring : scope.objects(IoUring.class)) {
            Maker maker = scope.process(ring.pid());
            makers.put(ring, maker);
            scope.made().add(maker, ring.id(), setUp(maker, ring));
        }
    }

    @Override
    public int flags(IoUring ring) {
        return ring.flags();
    }

    private static long setUp(Maker maker, IoUring ring) {
        int setup = ring.setup() | IoUring.CQSIZE | (ring.has(IoUring.SINGLE_ISSUER) ? IoUring.R_DISABLED : 0);
        // struct io_uring_params; the size of the submission queue is an argument
        long parameters = maker.structure().i32(0).i32(ring.completions()).i32(setup).i32(ring.processor())
                .i32(ring.idle()).raw(new byte[RingMemory.PARAMETERS - 20]).put();
        long fd = maker.call("io_uring_setup (EPERM: sysctl kernel.io_uring_disabled; EINVAL: an older kernel than the "
                + "checkpoint's)", Syscall.IO_URING_SETUP, ring.submissions(), parameters);
        byte[] made = maker.read(parameters, RingMemory.PARAMETERS);
        if (!Arrays.equals(Arrays.copyOfRange(made, RingMemory.OFFSETS, RingMemory.PARAMETERS), ring.offsets())) {
            throw maker.unsupported("an io_uring has another layout under this kernel than under the checkpoint's; "
                    + "restart it where the kernel is the same");
        }
        return fd;
    }

    @Override
    public void connect() {
        map();
        scope.objects(IoUring.class).forEach(ring -> {
            Maker maker = makers.get(ring);
            long fd = scope.made().in(maker, ring.id());
            if (ring.has(IoUring.SINGLE_ISSUER)) {
                maker.callInThread(ring.tid(), "enable an io_uring", Syscall.IO_URING_REGISTER, fd,
                        REGISTER_ENABLE_RINGS, 0, 0);
            }
            try (Shared shared = new Shared(maker, fd, ring)) {
                count(maker, ring, fd, shared);
            }
            if (ring.event() != 0) {
                long event = maker.structure().i32((int) scope.made().in(maker, ring.event())).put();
                maker.callInThread(ring.tid(), "register an eventfd with an io_uring", Syscall.IO_URING_REGISTER, fd,
                        ring.eventAsync() ? REGISTER_EVENTFD_ASYNC : REGISTER_EVENTFD, event, 1);
            }
        });
    }

    private void map() {
        Set<Long> rings = scope.objects(IoUring.class).stream().map(IoUring::id).collect(Collectors.toSet());
        Map<Integer, List<Region>> regions = scope.image().regions().stream()
                .filter(region -> rings.contains(region.backing())).collect(Collectors.groupingBy(Region::pid));
        regions.forEach((pid, mapped) -> {
            Maker process = scope.process(pid);
            try (RingPlaces places = new RingPlaces(process)) {
                mapped.forEach(region -> places.map(region, scope.made().in(process, region.backing())));
            }
        });
    }

    /**
     * Lets the kernel take as many entries as it had: those of a new ring are zeros, which do nothing (IORING_OP_NOP),
     * and each posts a completion.
     */
    private static void count(Maker maker, IoUring ring, long fd, Shared shared) {
        for (int at = 0; at != ring.done();) {
            int next = (int) Math.min(ring.submissions(), Integer.toUnsignedLong(ring.done() - at));
            at += next;
            shared.memory.submitTo(at);
            if (ring.has(IoUring.SINGLE_ISSUER)) {
                maker.callInThread(ring.tid(), "count an io_uring on", Syscall.IO_URING_ENTER, fd, next, 0, 0, 0, 0);
            } else {
                LinuxError.check(Syscall.call(Syscall.IO_URING_ENTER, shared.descriptor, next, 0,
                        ring.has(IoUring.SQPOLL) ? ENTER_SQ_WAKEUP : 0, 0, 0), "io_uring_enter of " + maker.name());
            }
            await(maker, shared.memory, at);
            shared.memory.consumeAll();
        }
    }

    /** A polling thread takes entries when it likes, and posts after it has taken. */
    private static void await(Maker maker, RingMemory memory, int count) {
        for (long deadline = 0; memory.taken() != count || memory.posted() != count; LockSupport.parkNanos(20_000)) {
            long now = System.nanoTime();
            deadline = deadline == 0 ? now + POLLING_NS : deadline;
            if (now > deadline) {
                throw maker.failed("an io_uring has taken %d entries and posted %d completions, and not %d"
                        .formatted(Integer.toUnsignedLong(memory.taken()), Integer.toUnsignedLong(memory.posted()),
                                Integer.toUnsignedLong(count)));
            }
        }
    }

    /** Buffers are looked for in memory that is there now. */
    @Override
    public void placed() {
        for (IoUring ring : scope.objects(IoUring.class)) {
            if (ring.buffers().length > 0) {
                Maker maker = makers.get(ring);
                registerBuffers(maker, ring, scope.made().in(maker, ring.id()));
            }
        }
    }

    private static void registerBuffers(Maker maker, IoUring ring, long fd) {
        long buffers = maker.bytes(ring.buffers()); // struct iovec[]
        maker.callInThread(ring.tid(), "register buffers with an io_uring (ENOMEM: ulimit -l)",
                Syscall.IO_URING_REGISTER, fd, REGISTER_BUFFERS, buffers, ring.buffers().length / IoUring.BUFFER_BYTES);
    }

    /** Nothing runs from here on that would not be the job's: a polling thread goes on with what was submitted. */
    @Override
    public void complete() {
        for (IoUring ring : scope.objects(IoUring.class)) {
            Maker maker = makers.get(ring);
            try (Shared shared = new Shared(maker, scope.made().in(maker, ring.id()), ring)) {
                shared.memory.put(ring.rings(), ring.entries());
                byte[] inode = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(Files.stat(shared.descriptor).inode()).array();
                RingNotes.places(ring.notes())
                        .forEach(place -> scope.write(scope.process((int) place.pid()), place.address(), inode));
            }
        }
    }

    /** A ring of the job, in this process for a moment. */
    private static final class Shared implements AutoCloseable {
        private final int descriptor;
        private final RingMemory memory;

        Shared(Maker maker, long fd, IoUring ring) {
            try (ProcessHandleFd process = new ProcessHandleFd(maker.hostPid())) {
                descriptor = process.duplicate((int) fd);
            }
            try {
                memory = new RingMemory(descriptor, ring.setup(), ring.submissions(), ring.completions(),
                        ring.offsets());
            } catch (LinuxError failure) {
                Files.close(descriptor);
                throw failure;
            }
        }

        @Override
        public void close() {
            memory.close();
            Files.close(descriptor);
        }
    }
}
