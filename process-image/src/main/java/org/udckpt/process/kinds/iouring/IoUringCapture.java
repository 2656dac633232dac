package org.udckpt.process.kinds.iouring;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * Rings of system calls: what the kernel shows of them (/proc/PID/fdinfo), how they were made ({@link RingNotes}), and
 * their memory.
 */
final class IoUringCapture implements KindCapture, KindCapture.Looks, KindCapture.Sees {
    /** Operations of io_uring_register(2) that leave what a restart does not know, by their names. */
    private static final Map<Integer,
            String> UNKNOWN = Map.of(11, "restrictions", 13, "tags of files", 14, "tags of files",
                    15, "tags of buffers", 16, "tags of buffers", 17, "IORING_REGISTER_IOWQ_AFF", 19,
                    "IORING_REGISTER_IOWQ_MAX_WORKERS", 20,
                    "descriptors of several rings or threads (IORING_REGISTER_RING_FDS)",
                    22, "rings of buffers (IORING_REGISTER_PBUF_RING)", 25, "a range of places for files "
                            + "(IORING_REGISTER_FILE_ALLOC_RANGE)");
    /** What is kept, or seen elsewhere: buffers, files, eventfds, personalities, IORING_REGISTER_ENABLE_RINGS. */
    private static final long KNOWN = 0x7ffL | 1L << 12;
    private static final Pattern BUFFER = Pattern.compile("\\s*\\d+: (?:0x)?([0-9a-f]+)/(\\d+)");

    private final CaptureScope scope;
    private final RingNotes notes = new RingNotes();
    private final RingFiles files = new RingFiles();
    private final Map<Long, Map<Integer, Long>> eventFds = new HashMap<>();
    private final Map<IoUring, RingNotes.Note> rings = new HashMap<>();
    private boolean any;

    IoUringCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public void ask(AskedProcess caller, List<AskedProcess> processes) {
        notes.ask(processes);
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.link().equals(IoUring.LINK);
    }

    @Override
    public long read(OpenDescriptor open) {
        RingNotes.Note note = noted(open);
        int submissions = (int) open.number("SqMask:\t0x", 16) + 1;
        int completions = (int) open.number("CqMask:\t0x", 16) + 1;
        int done = (int) open.number("CachedSqHead:", 10);
        refuseUnknown(open, note);
        byte[] offsets;
        try {
            offsets = RingMemory.offsets(note.flags(), submissions, completions);
        } catch (LinuxError refused) {
            throw open.refuse("an io_uring cannot be checkpointed where the agent may make none ("
                    + refused.getMessage() + "; sysctl kernel.io_uring_disabled)");
        }
        long id = scope.table().newId();
        scope.mapped(open, id);
        int known = note.process().ofOwn(note.maker());
        int maker = note.process().namespaceThreads().contains(known) ? known : note.process().namespacePid();
        if (maker != known && (note.flags() & IoUring.SINGLE_ISSUER) != 0) {
            throw open.refuse("the thread that may use this io_uring (IORING_SETUP_SINGLE_ISSUER) has ended; close it");
        }
        open.duplicated(ring -> {
            try (RingMemory memory = new RingMemory(ring, note.flags(), submissions, completions, offsets)) {
                requireQuiet(open, note, memory, done);
                rings.put(new IoUring(id, open.openFlags(), note.flags() & ~IoUring.R_DISABLED, submissions,
                        completions, note.processor(), note.idle(), done, note.process().namespacePid(), maker, 0,
                        note.eventAsync(), offsets, memory.rings(), memory.entries(), buffers(open),
                        notes.places(note.inode())), note);
                files.read(open, note, id);
            }
            return null;
        });
        return id;
    }

    /** A registration ends with its thread. */
    private static int registrar(RingNotes.Note note) {
        int known = note.registrar() == 0 ? 0 : note.process().ofOwn(note.registrar());
        return note.process().namespaceThreads().contains(known) ? known : 0;
    }

    private RingNotes.Note noted(OpenDescriptor open) {
        RingNotes.Note note = notes.of(open.stat().inode());
        if (note != null) {
            return note;
        }
        if (notes.making()) {
            throw open.failed("an io_uring is being made (io_uring_setup(2))");
        }
        throw open.refuse("how this io_uring was made is not known: the preloaded library sees it where it is made by "
                + "liburing.so or syscall(3), by less than 65 rings at a time, and not by a program that is linked "
                + "statically; run it with its io_uring support turned off");
    }

    /** What a restart could not give back. */
    private static void refuseUnknown(OpenDescriptor open, RingNotes.Note note) {
        if ((note.flags() & ~IoUring.KEPT) != 0) {
            throw open.refuse("an io_uring with flags 0x%x of io_uring_setup(2) cannot be checkpointed; make it without"
                    .formatted(note.flags() & ~IoUring.KEPT));
        }
        if ((note.flags() & IoUring.R_DISABLED) != 0 && !note.registered(12 /* IORING_REGISTER_ENABLE_RINGS */)) {
            throw open.refuse("an io_uring that is not enabled yet (IORING_SETUP_R_DISABLED) cannot be checkpointed; "
                    + "enable it first");
        }
        for (int operation = 0; operation < Long.SIZE; operation++) {
            boolean kept = (KNOWN & 1L << operation) != 0;
            if (note.registered(operation) && !kept) {
                throw open.refuse("an io_uring with registered " + UNKNOWN.getOrDefault(operation, "objects (operation "
                        + operation + " of io_uring_register(2))") + " cannot be checkpointed; do without them");
            }
        }
        if (!open.info().contains("UserFiles:") || !open.info().contains("UserBufs:")) { // while its lock is held
            throw open.failed("the io_uring is at work");
        }
        if (open.info().contains("Personalities:")) {
            throw open.refuse("an io_uring with registered credentials (IORING_REGISTER_PERSONALITY) cannot be "
                    + "checkpointed; do without them");
        }
        if (open.info().contains("napi tracking")) {
            throw open.refuse("an io_uring that polls network devices (IORING_REGISTER_NAPI) cannot be checkpointed; "
                    + "do without that");
        }
    }

    /**
     * What was submitted has been completed: each operation posts one completion. Those that post several, or none
     * (IORING_CQE_SKIP_SUCCESS), look as if something were in flight.
     */
    private static void requireQuiet(OpenDescriptor open, RingNotes.Note note, RingMemory memory, int done) {
        boolean polling = (note.flags() & IoUring.SQPOLL) != 0 && memory.submitted() != memory.taken();
        boolean lists = open.info().matches("(?s).*(?:PollList|CqOverflowList):\\R\\s+\\S.*");
        if (polling || lists || memory.overflowed() || memory.taken() != done || memory.dropped() != 0
                || memory.posted() != done) {
            throw open.failed(("the io_uring has operations in flight (%d submitted, %d taken, %d completed), which "
                    + "cannot be checkpointed; try again when they are complete").formatted(
                            Integer.toUnsignedLong(memory.submitted()), Integer.toUnsignedLong(done),
                            Integer.toUnsignedLong(memory.posted())));
        }
    }

    /** Lines of fdinfo below UserBufs, one for each. */
    private static byte[] buffers(OpenDescriptor open) {
        int count = (int) open.number("UserBufs:", 10);
        if (count > IoUring.MOST_BUFFERS) {
            throw open.refuse("an io_uring with " + count + " registered buffers cannot be checkpointed");
        }
        ByteBuffer buffers = ByteBuffer.allocate(count * IoUring.BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        List<String> lines = open.info().substring(open.info().indexOf("UserBufs:")).lines().skip(1).limit(count)
                .toList();
        for (String line : lines) {
            Matcher buffer = BUFFER.matcher(line);
            boolean none = line.contains("<none>");
            if (!none && !buffer.matches()) {
                throw open.failed("its registered buffers cannot be read from /proc (" + line.strip() + ")");
            }
            buffers.putLong(none ? 0 : Long.parseUnsignedLong(buffer.group(1), 16))
                    .putLong(none ? 0 : Long.parseLong(buffer.group(2)));
        }
        return buffers.array();
    }

    @Override
    public void look(OpenDescriptor open) {
        any |= takes(open);
    }

    @Override
    public void seen(OpenDescriptor open, long object, boolean first) {
        if (!any) {
            return;
        }
        files.seen(open, object);
        if (open.link().equals("anon_inode:[eventfd]") && !open.process().inFlight()) {
            eventFds.computeIfAbsent((long) open.process().namespacePid(), _ -> new HashMap<>()).put(open.fd(), object);
        }
    }

    @Override
    public void finish() {
        rings.forEach((ring, note) -> {
            long event = 0;
            if (note.event() >= 0) {
                event = eventFds.getOrDefault((long) note.process().namespacePid(), Map.of())
                        .getOrDefault(note.event(), 0L);
                if (event == 0) {
                    throw note.process().refuse("an io_uring tells eventfd %d of completions, which is closed now; "
                            .formatted(note.event()) + "keep it open");
                }
            }
            scope.table().add(new IoUring(ring.id(), ring.flags(), ring.setup(), ring.submissions(),
                    ring.completions(), ring.processor(), ring.idle(), ring.done(), ring.pid(), ring.tid(), event,
                    ring.eventAsync(), ring.offsets(), ring.rings(), ring.entries(), ring.buffers(), ring.notes()));
            RingRegistration registered = new RingRegistration(scope.table().newId(), ring.id(),
                    files.objects(ring.id()), registrar(note), note.slot());
            if (!registered.empty()) {
                scope.table().add(registered);
            }
        });
    }
}
