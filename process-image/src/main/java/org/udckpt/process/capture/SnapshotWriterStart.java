package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.MADV_HUGEPAGE;
import static org.udckpt.linux.LinuxConstants.MFD_CLOEXEC;
import static org.udckpt.linux.LinuxConstants.O_DIRECT;
import static org.udckpt.linux.LinuxConstants.RLIMIT_CORE;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.layout.Layout;
import org.udckpt.linux.Cpuid;
import org.udckpt.linux.Files;
import org.udckpt.linux.Limits;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MappedMemory;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.SocketMessage;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Injector;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;

/**
 * Brings a snapshot, which stands still and has no descriptors, to carry out the orders of one or more
 * {@link SnapshotWriter}s: it is given files and pages for orders over a socket of its own, and a thread, a buffer and
 * a stack for each. On the tracer thread.
 */
final class SnapshotWriterStart {
    /** Limits of setrlimit(2): of a process's time, of the files that it writes, of its core. */
    private static final int RLIMIT_CPU = 0, RLIMIT_FSIZE = 1;
    private static final int READ_WRITE = 3, READ = 1, SHARED = 1, PRIVATE_ANONYMOUS = 0x22;
    private static final int BUFFER = Layout.ORDER_PAGES * 4096, STACK = 1 << 16;
    private static final long HUGE = 2 << 20;
    // CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM
    private static final int THREAD = 0x50f00;
    private static final long ALL_SIGNALS = -1;
    private static final int INTERRUPTS_ON = 0x202;
    private static final int SCHED_OTHER = 0, PRIO_PROCESS = 0, IOPRIO_WHO_PROCESS = 1, IOPRIO_CLASS_IDLE = 3 << 13,
            NICEST = 19, NORMAL = 20;
    /**
     * Where a snapshot and its rank want the same processor, the rank gets three quarters of it (sched(7): a factor of
     * 1.25 for each).
     */
    private static final int NICER = 5;
    /** In the place for results: struct msghdr, struct iovec, a byte, struct cmsghdr with the descriptors. */
    private static final int VECTOR = 64, BYTE = 80, CONTROL = 96, CONTROL_HEADER = 16;
    static final int MOST_FILES = (Parasite.RESULT_BYTES - CONTROL - CONTROL_HEADER) / 4 - 1;

    private final TracedProcess process;
    private final Snapshot snapshot;
    private final int pid;
    private final ProcessMemory memory;
    private final Injector injector;
    private final long results;

    private SnapshotWriterStart(TracedProcess process, Snapshot snapshot) {
        this.process = process;
        this.snapshot = snapshot;
        this.pid = snapshot.pid();
        this.memory = snapshot.memory();
        this.injector = new Injector(pid, process.parasite.instruction(),
                process.main().registers.copy().set(Registers.RSP, process.main().frame));
        this.results = Parasite.results(process.main().frame);
    }

    /** Null, or why this snapshot cannot write by itself. */
    static String unable(TracedProcess process, int pid, int files) {
        if (process.lostRights != null) {
            return process.lostRights;
        }
        if (!process.parasite.safe()) {
            return "it has no libudckpt.so";
        }
        if (files > MOST_FILES) {
            return files + " stripe files are too many to pass";
        }
        if (process.parasite.writer() == Parasite.UNLINKED) {
            return "its dynamic linker has not finished loading libudckpt.so";
        }
        if (process.parasite.writer() < 0) {
            return "its libudckpt.so is of another version";
        }
        if (!Cpuid.multipliesCarryLess()) {
            return "this processor has no PCLMULQDQ, which it needs to make the tags";
        }
        long[] limits = Limits.of(pid); // the soft ones count
        if (limits[2 * RLIMIT_FSIZE] != Limits.INFINITY) {
            return "the size of files that it may write is limited (ulimit -f)";
        }
        if (limits[2 * RLIMIT_CPU] != Limits.INFINITY) {
            return "its processor time is limited (ulimit -t)";
        }
        return null;
    }

    /**
     * Starts it.
     *
     * @throws LinuxError when something that it needs cannot be had; then its memory can be read as before
     */
    static List<SnapshotWriter> start(Snapshot snapshot, TracedProcess process, List<Integer> files, boolean direct,
            boolean background, int writers) {
        SnapshotWriterStart start = new SnapshotWriterStart(process, snapshot);
        start.leaveTheJobsPlace(background);
        List<Integer> handed = new ArrayList<>();
        try {
            int orders = (int) LinuxError.check(
                    Syscall.call(Syscall.MEMFD_CREATE, Scratch.string("udckpt-orders"), MFD_CLOEXEC), "memfd_create");
            handed.add(orders);
            LinuxError.check(Syscall.call(Syscall.FTRUNCATE, orders, (long) writers * Layout.ORDERS_BYTES),
                    "ftruncate");
            for (int file : files) { // a mapped file has to be open for reading
                handed.add(Files.reopen(file, direct ? Syscall.O_WRONLY | O_DIRECT : Syscall.O_RDWR));
            }
            int[] received = start.hand(handed);
            MemorySegment here =
                    MappedMemory.shared(Arena.ofAuto(), orders, (long) writers * Layout.ORDERS_BYTES, "mmap");
            start.run(received[0], writers);
            int[] theirs = new int[files.size()];
            System.arraycopy(received, 1, theirs, 0, theirs.length);
            List<SnapshotWriter> started = new ArrayList<>();
            for (int i = 0; i < writers; i++) {
                started.add(new SnapshotWriter(snapshot,
                        here.asSlice((long) i * Layout.ORDERS_BYTES, Layout.ORDERS_BYTES), theirs));
            }
            return started;
        } finally {
            handed.forEach(Files::close);
        }
    }

    /** A snapshot is bound to the rank's processors, which that one needs, and has its priorities. */
    private void leaveTheJobsPlace(boolean background) {
        MemorySegment data = Scratch.data();
        data.asSlice(0, 16).fill((byte) 0);
        memory.write(results, data.asSlice(0, 16));
        // its core would be the job's memory
        injector.check("prlimit in the snapshot", Syscall.PRLIMIT64, 0, RLIMIT_CORE, results, 0);
        data.set(JAVA_INT, 0, 0);
        LinuxError.check(Syscall.call(Syscall.SCHED_SETSCHEDULER, pid, SCHED_OTHER, data.address()),
                "scheduling policy of the snapshot");
        long bytes = LinuxError.check(Syscall.call(Syscall.SCHED_GETAFFINITY, 0, 8192, data.address()),
                "processor affinity");
        LinuxError.check(Syscall.call(Syscall.SCHED_SETAFFINITY, pid, bytes, data.address()),
                "processor affinity of the snapshot");
        long nice = NORMAL
                - LinuxError.check(Syscall.call(Syscall.GETPRIORITY, PRIO_PROCESS, pid), "priority of the snapshot");
        LinuxError.check(Syscall.call(Syscall.SETPRIORITY, PRIO_PROCESS, pid,
                background ? NICEST : Math.min(NICEST, Math.max(0, nice) + NICER)), "priority of the snapshot");
        if (background) {
            LinuxError.check(Syscall.call(Syscall.IOPRIO_SET, IOPRIO_WHO_PROCESS, pid, IOPRIO_CLASS_IDLE),
                    "I/O priority of the snapshot");
        }
    }

    /** The numbers that the descriptors have there. */
    private int[] hand(List<Integer> descriptors) {
        injector.check("socketpair in the snapshot", Syscall.SOCKETPAIR, AF_UNIX, SOCK_STREAM, 0, results);
        int ours = memory.readInt(results);
        int theirs = memory.readInt(results + 4);
        try (ProcessHandleFd handle = new ProcessHandleFd(pid)) {
            int socket = handle.duplicate(ours);
            try {
                SocketMessage.send(socket, new byte[1], descriptors, "files for the snapshot");
            } finally {
                Files.close(socket);
            }
        }
        int control = CONTROL_HEADER + 4 * descriptors.size();
        MemorySegment header = Scratch.data().asSlice(0, CONTROL + CONTROL_HEADER);
        header.fill((byte) 0);
        header.set(JAVA_LONG, 16, results + VECTOR);
        header.set(JAVA_LONG, 24, 1);
        header.set(JAVA_LONG, 32, results + CONTROL);
        header.set(JAVA_LONG, 40, control + 4);
        header.set(JAVA_LONG, VECTOR, results + BYTE);
        header.set(JAVA_LONG, VECTOR + 8, 1);
        memory.write(results, header);
        injector.check("recvmsg in the snapshot", Syscall.RECVMSG, theirs, results, 0);
        MemorySegment received = Scratch.data().asSlice(0, control);
        memory.read(results + CONTROL, received);
        if (received.get(JAVA_LONG, 0) != control) {
            throw new LinuxError("descriptors for the snapshot",
                    24 /* EMFILE: its limit; the kernel leaves out the rest (recvmsg(2), MSG_CTRUNC) */);
        }
        int[] numbers = received.asSlice(CONTROL_HEADER, 4L * descriptors.size()).toArray(JAVA_INT_UNALIGNED);
        injector.check("close in the snapshot", Syscall.CLOSE, ours);
        injector.check("close in the snapshot", Syscall.CLOSE, theirs);
        return numbers;
    }

    private void run(int orders, int writers) {
        for (Mapping mapping : process.mappings) {
            if (mapping.permissions().charAt(0) != 'r' && snapshot.hasExtentIn(mapping.start(), mapping.end())) {
                injector.check("mprotect in the snapshot", Syscall.MPROTECT, mapping.start(),
                        mapping.end() - mapping.start(), READ);
            }
        }
        long pages = injector.check("mmap in the snapshot", Syscall.MMAP, 0, (long) writers * Layout.ORDERS_BYTES,
                READ_WRITE, SHARED, orders, 0);
        // a device that writes from one is given one place, not 256
        long inHugePages = (long) writers * BUFFER + HUGE - 1 & -HUGE;
        long space = injector.check("mmap in the snapshot", Syscall.MMAP, 0,
                HUGE + inHugePages + (long) writers * STACK, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
        long buffers = space + HUGE - 1 & -HUGE;
        injector.call(Syscall.MADVISE, buffers, inHugePages, MADV_HUGEPAGE); // small pages do as well
        long stacks = buffers + inHugePages;
        injector.check("close in the snapshot", Syscall.CLOSE, orders);
        for (int i = 1; i < writers; i++) {
            startThread(writing(pages + (long) i * Layout.ORDERS_BYTES, buffers + (long) i * BUFFER,
                    stacks + (long) i * STACK));
        }
        Ptrace.setRegisters(pid, writing(pages, buffers, stacks));
        Ptrace.resume(Ptrace.CONT, pid, 0);
    }

    /** The registers with which a thread begins to carry out the orders in a page, with a buffer and a stack. */
    private Registers writing(long page, long buffer, long stack) {
        return process.main().registers.copy().set(Registers.RIP, process.parasite.writer()).set(Registers.RDI, page)
                .set(Registers.RSI, buffer).set(Registers.RSP, stack + STACK - 8).set(Registers.RBP, 0)
                .set(Registers.EFLAGS, INTERRUPTS_ON)
                .set(Registers.ORIG_RAX, -1);
    }

    /**
     * Nobody traces it, and it ends with the snapshot. It leaves the call that makes it by a frame on its own stack.
     */
    private void startThread(Registers registers) {
        long frame = Parasite.frame(registers.get(Registers.RSP));
        Parasite.writeFrame(memory, frame, ALL_SIGNALS, registers);
        injector.check("clone in the snapshot", Syscall.CLONE, THREAD, frame, 0, 0, 0);
    }
}
