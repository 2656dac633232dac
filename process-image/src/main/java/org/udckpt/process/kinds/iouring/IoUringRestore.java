package org.udckpt.process.kinds.iouring;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    private static final int REGISTER_BUFFERS = 0, REGISTER_EVENTFD = 4, REGISTER_FILES_UPDATE = 6,
            REGISTER_EVENTFD_ASYNC = 7, REGISTER_ENABLE_RINGS = 12, REGISTER_FILES2 = 13, REGISTER_RING_FDS = 20;
    private static final int FILES_SPARSE = 1, FILES2_BYTES = 32, FILES_AT_A_TIME = 4096;

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
                new RingCount(maker, ring, fd, shared.descriptor, shared.memory).bring(mappedAt(ring));
            }
            if (ring.event() != 0) {
                long event = maker.structure().i32((int) scope.made().in(maker, ring.event())).put();
                maker.callInThread(ring.tid(), "register an eventfd with an io_uring", Syscall.IO_URING_REGISTER, fd,
                        ring.eventAsync() ? REGISTER_EVENTFD_ASYNC : REGISTER_EVENTFD, event, 1);
            }
        });
    }

    /** Where the thread that uses it sees its queues; 0: nowhere. */
    private long mappedAt(IoUring ring) {
        return scope.image().regions().stream()
                .filter(region -> region.backing() == ring.id() && region.pid() == ring.pid())
                .filter(region -> region.fileOffset() == 0 && region.size() >= ring.rings().length)
                .mapToLong(Region::start).findFirst().orElse(0);
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

    /** Buffers are looked for in memory that is there now. */
    @Override
    public void placed() {
        for (IoUring ring : scope.objects(IoUring.class)) {
            if (ring.buffers().length > 0) {
                registerBuffers(makers.get(ring), ring, scope.made().in(makers.get(ring), ring.id()));
            }
        }
        Map<Long, IoUring> rings =
                scope.objects(IoUring.class).stream().collect(Collectors.toMap(IoUring::id, ring -> ring));
        for (RingRegistration registration : scope.objects(RingRegistration.class)) {
            IoUring ring = rings.get(registration.ioUring());
            Maker maker = makers.get(ring);
            if (registration.files().length > 0) {
                registerFiles(maker, ring, RingFiles.ids(registration.files()));
            }
            if (registration.registrar() != 0) {
                long fd = scope.made().in(maker, ring.id());
                // struct io_uring_rsrc_update
                long own = maker.structure().i32(registration.slot()).i32(0).i64(fd).put();
                maker.callInThread(registration.registrar(), "register an io_uring's descriptor",
                        Syscall.IO_URING_REGISTER, fd, REGISTER_RING_FDS, own, 1);
            }
        }
    }

    /** Places without a file first, and then the files, not more at a time than the memory for arguments takes. */
    private void registerFiles(Maker maker, IoUring ring, long[] ids) {
        long fd = scope.made().in(maker, ring.id());
        long places = maker.structure().i32(ids.length).i32(FILES_SPARSE).i64(0).i64(0).i64(0).put();
        maker.callInThread(ring.tid(), "make places for files of an io_uring (EMFILE: ulimit -n)",
                Syscall.IO_URING_REGISTER, fd, REGISTER_FILES2, places, FILES2_BYTES); // io_uring_rsrc_register
        for (int first = 0; first < ids.length; first += FILES_AT_A_TIME) {
            int end = Math.min(ids.length, first + FILES_AT_A_TIME);
            if (Arrays.stream(ids, first, end).allMatch(id -> id == 0)) {
                continue;
            }
            ByteBuffer files = ByteBuffer.allocate((end - first) * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int place = first; place < end; place++) {
                files.putInt(ids[place] == 0 ? -1 : (int) scope.made().in(maker, ids[place]));
            }
            long descriptors = maker.bytes(files.array());
            long update = maker.structure().i32(first).i32(0).i64(descriptors).put(); // io_uring_files_update
            maker.callInThread(ring.tid(), "register files with an io_uring", Syscall.IO_URING_REGISTER, fd,
                    REGISTER_FILES_UPDATE, update, end - first);
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
