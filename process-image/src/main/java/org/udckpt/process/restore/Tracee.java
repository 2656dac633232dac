package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.CLONE_PARENT;
import static org.udckpt.linux.LinuxConstants.CLONE_VM;
import static org.udckpt.linux.LinuxConstants.PR_SET_NAME;
import static org.udckpt.linux.LinuxConstants.SIGCHLD;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.Struct;
import org.udckpt.process.trace.CallLoop;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.WaitStatus;

/**
 * A process that is being made into a restored one: it runs nothing but the calls that are injected here. It keeps a
 * scratch mapping, where no mapping of the job is, for the calls' arguments. Its signals are blocked. Used on the
 * tracer thread only.
 */
final class Tracee implements Maker, AutoCloseable {
    static final int OPTIONS =
            Ptrace.O_TRACESYSGOOD | Ptrace.O_TRACEFORK | Ptrace.O_TRACEVFORK | Ptrace.O_TRACECLONE | Ptrace.O_EXITKILL;
    static final int SCRATCH_BYTES = 1 << 16;
    /** Behind the scratch: {@link CallLoop}. */
    static final int CODE_BYTES = 4096;
    /** As setresuid(2) has it. */
    static final int SAME_USER = -1;

    private final Owner owner;
    private final JobNumbers job;
    /** The pid namespace of the job's own in which it is; null: none. */
    private final PidSpace space;
    private final int pid;
    private final int hostPid;
    private final InjectedCalls calls;
    private final ProcessMemory memory;
    /** All that have this memory (CLONE_VM), with the same scratch in it; the first one has made it. */
    private final List<Tracee> together;
    private long scratch;
    private int used;
    /** Numbers of its threads, other than the first, for the tracer. */
    private final Map<Integer, Integer> threads = new HashMap<>();

    /** @param together those that have this memory already */
    private Tracee(Owner owner, JobNumbers job, PidSpace space, int hostPid, InjectedCalls calls, long scratch,
            List<Tracee> together) {
        this.owner = owner;
        this.job = job;
        this.space = space;
        this.pid = owner.pid();
        this.hostPid = hostPid;
        this.calls = calls;
        this.scratch = scratch;
        this.memory = new ProcessMemory(hostPid);
        this.together = together;
        together.add(this);
        job.put(this);
    }

    /** Takes over a stub of the shepherd. {@code instruction}: address of a syscall instruction in it. */
    static Tracee seize(Owner owner, JobNumbers job, int hostPid, long instruction, long scratch) {
        Ptrace.seize(hostPid, OPTIONS);
        Ptrace.interrupt(hostPid);
        awaitInterrupt(hostPid);
        Ptrace.setSignalMask(hostPid, -1L);
        InjectedCalls calls = new InjectedCalls(hostPid, Ptrace.registers(hostPid), instruction, 0);
        Tracee tracee = new Tracee(owner, job, null, hostPid, calls, 0, new ArrayList<>());
        int anonymous = 0x100022; /* MAP_FIXED_NOREPLACE | MAP_ANONYMOUS | MAP_PRIVATE */
        tracee.scratch = tracee.call("map scratch memory", Syscall.MMAP, scratch, SCRATCH_BYTES, 3, anonymous, -1, 0);
        long code = tracee.call("map code", Syscall.MMAP, scratch + SCRATCH_BYTES, CODE_BYTES, 5, anonymous, -1, 0);
        tracee.memory.writeBytes(code, CallLoop.code());
        calls.trapBy(code);
        tracee.forgetOwnThread();
        return tracee;
    }

    /** Takes back what the stub's C library told the kernel about its main thread, before its memory goes away. */
    private void forgetOwnThread() {
        Batch batch = new Batch(this);
        long[] rseq = Ptrace.rseq(hostPid);
        if (rseq[0] != 0) {
            batch.add(() -> "unregister rseq", Syscall.RSEQ, rseq[0], rseq[1], 1 /* RSEQ_FLAG_UNREGISTER */, rseq[2]);
        }
        batch.add(() -> "set_robust_list", Syscall.SET_ROBUST_LIST, 0, 24);
        batch.add(() -> "set_tid_address", Syscall.SET_TID_ADDRESS, 0);
        batch.run();
    }

    /** Waits for PTRACE_EVENT_STOP; a thread with all signals blocked has no other stop. */
    static void awaitInterrupt(int tid) {
        while (true) {
            WaitStatus status = Ptrace.await(tid);
            if (status.interrupted()) {
                return;
            }
            if (status.ended()) {
                throw new RestoreException(RestoreException.Reason.FAILED,
                        "process " + tid + " " + status + " while it was restored");
            }
            Ptrace.resume(Ptrace.CONT, tid, status.signalDelivery() ? status.signal() : 0);
        }
    }

    /**
     * Forks this tracee: the child is a tracee too, with that pid. Only before the address space is built: its memory
     * is what this one has been given to pass on.
     *
     * @param flags of clone(2): what it shares with this one, its memory, too, from then on
     */
    Tracee fork(Owner child, long flags) {
        return fork(child, flags, SIGCHLD, space);
    }

    /** As {@link #fork}: one that has the same parent. */
    Tracee sibling(Owner other) {
        return fork(other, CLONE_PARENT, 0, space);
    }

    /** As {@link #fork}, of the first process of a pid namespace. @param exitSignal 0 for CLONE_PARENT */
    Tracee first(Owner child, long flags, long exitSignal, PidSpace its) {
        return fork(child, flags, exitSignal, its);
    }

    private Tracee fork(Owner child, long flags, long exitSignal, PidSpace its) {
        int host =
                new TraceeClone(this, job).make("fork process " + child.pid(), exitSignal, flags, child.pid(), 0, its);
        return new Tracee(child, job, its, host, calls.in(host), scratch,
                (flags & CLONE_VM) == 0 ? new ArrayList<>() : together);
    }

    /** As {@link #fork}: a process that is none of the image's. */
    Tracee helper(int child) {
        return helper(child, 0);
    }

    /** The same. @param flags as in {@link #fork} */
    Tracee helper(int child, long flags) {
        if (space != null) {
            space.give(child);
        }
        return fork(owner.helper(child), flags);
    }

    /** Of a child that is none of the image's processes. */
    Owner ownerOf(int child) {
        return owner.helper(child);
    }

    /** As {@link #helper}; null where no process can have this number (above the namespace's pid_max). */
    Tracee helperIfPossible(int child) {
        int made = new TraceeClone(this, job).makeIfPossible("fork process " + child, child);
        return made == 0 ? null
                : new Tracee(owner.helper(child), job, space, made, calls.in(made), scratch, new ArrayList<>());
    }

    /**
     * A thread with id {@code tid}; returns its id for the tracer. {@code clearTid} as set_tid_address(2) has it, or 0.
     */
    int thread(int tid, long clearTid) {
        long flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000; /* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM */
        long all = clearTid == 0 ? flags : flags | 0x200000 /* CHILD_CLEARTID */;
        int host = new TraceeClone(this, job).make("make thread " + tid, 0, all, tid, clearTid, space);
        threads.put(tid, host);
        return host;
    }

    /** {@link TraceeEnd#end}. */
    void end(int waitStatus, int user) {
        new TraceeEnd(this).end(waitStatus, user);
    }

    /** {@link TraceeEnd#endMainThread}. */
    void endMainThread(int exitCode) {
        new TraceeEnd(this).endMainThread(exitCode);
    }

    /** A call that does not return. */
    void beginLast(long number, long argument) {
        calls.callLast(number, argument);
    }

    /** PR_SET_NAME. */
    void rename(String name) {
        call("PR_SET_NAME", Syscall.PRCTL, PR_SET_NAME, string(name));
    }

    @Override
    public int rank() {
        return owner.rank();
    }

    @Override
    public int pid() {
        return pid;
    }

    @Override
    public int hostPid() {
        return hostPid;
    }

    @Override
    public int own(int number) {
        return space == null ? number : space.inner(number);
    }

    /** What the tracer calls another process of the job, or the shepherd. */
    int host(int number) {
        return job.host(number);
    }

    PidSpace space() {
        return space;
    }

    /** {@link InjectedCalls#newTask}. */
    int newTask() {
        return calls.newTask();
    }

    long scratch() {
        return scratch;
    }

    ProcessMemory memory() {
        return memory;
    }

    long instruction() {
        return calls.instruction();
    }

    void instruction(long address) {
        together.forEach(one -> one.calls.moved(address));
    }

    /** The one that has made this one's memory. */
    Tracee memoryMaker() {
        return together.getFirst();
    }

    /** The result of a call that must succeed. Arguments that were put in the scratch are gone afterwards. */
    @Override
    public long call(String what, long number, long... arguments) {
        long result = tryCall(number, arguments);
        if (result < 0 && result > -4096) {
            throw failed(what + ": " + LinuxError.name((int) -result));
        }
        return result;
    }

    /** The result or {@code -errno}. */
    @Override
    public long tryCall(long number, long... arguments) {
        return tryCallIn(hostPid, number, arguments);
    }

    /**
     * From now on calls in this memory's processes end at the kernel's own stops: the job's handler of SIGTRAP is
     * there, or a SIGTRAP waits, which a trap would take away (force_sig, kernel/signal.c).
     */
    void endTraps() {
        together.forEach(one -> one.calls.trapBy(0));
    }

    boolean traps() {
        return calls.traps();
    }

    /**
     * Makes {@code count} calls of a {@link Batch} at this address in this thread, while there are {@link #traps}.
     * Arguments that were put in the scratch are gone afterwards.
     */
    void execute(int host, long entries, int count) {
        used = 0;
        calls.callAll(host, entries, count);
    }

    /** Whether this is an address of the restore's own mappings, and not of the stub's. */
    boolean ownMapping(long address) {
        return address >= scratch && address < scratch + SCRATCH_BYTES + CODE_BYTES;
    }

    /** The last step, of all that have this memory: no call that takes memory and no {@link Batch} comes after it. */
    void unmapScratch() {
        endTraps();
        call("unmap the scratch memory", Syscall.MUNMAP, scratch, SCRATCH_BYTES + CODE_BYTES);
    }

    /** As {@link #call}, in thread {@code tid}. */
    long callIn(int tid, String what, long number, long... arguments) {
        long result = tryCallIn(tid, number, arguments);
        if (result < 0 && result > -4096) {
            throw failed(what + " (thread " + tid + "): " + LinuxError.name((int) -result));
        }
        return result;
    }

    @Override
    public long reopen(long descriptor, long flags) {
        long opened = tryCall(Syscall.OPEN, string("/proc/self/fd/" + descriptor), flags, 0);
        if (opened != -LinuxError.ENOENT) {
            return opened;
        }
        // its /proc shows a pid namespace in which it has no number
        long here = Syscall.call(Syscall.OPEN, Scratch.string("/proc/" + hostPid + "/fd/" + descriptor), flags, 0);
        if (here < 0) {
            return here;
        }
        try {
            return Handover.give(this, List.of((int) here))[0];
        } finally {
            Files.close((int) here);
        }
    }

    @Override
    public long callInThread(int tid, String what, long number, long... arguments) {
        return callIn(hostTid(tid), what, number, arguments);
    }

    @Override
    public void callsInThread(int tid, int times, List<long[]> calls) {
        int together = SCRATCH_BYTES / CallLoop.ENTRY / calls.size();
        for (int left = times; left > 0; left -= together) {
            int now = Math.min(left, together);
            memory.writeBytes(scratch, CallLoop.list(calls, now));
            execute(hostTid(tid), scratch, now * calls.size());
        }
    }

    @Override
    public void suspendCallFilters(int tid) {
        if (Ptrace.request(Ptrace.SETOPTIONS, hostTid(tid), 0, OPTIONS | Ptrace.O_SUSPEND_SECCOMP) < 0) {
            throw unsupported("it has filters of system calls (seccomp(2)), which only root can put back (ptrace(2), "
                    + "PTRACE_O_SUSPEND_SECCOMP): restart as root, where nothing filters root's own calls");
        }
    }

    private int hostTid(int tid) {
        return tid == pid ? hostPid : threads.get(tid);
    }

    /** As {@link #tryCall}, in thread {@code tid}. */
    long tryCallIn(int tid, long number, long... arguments) {
        used = 0;
        return calls.call(tid, number, arguments);
    }

    /** Puts an argument into the scratch until the next call; its address. */
    @Override
    public long bytes(byte[] value) {
        int at = used + 15 & ~15;
        if (at + value.length > SCRATCH_BYTES) {
            throw new IllegalStateException(value.length + " bytes do not fit in the scratch of process " + pid);
        }
        memory.writeBytes(scratch + at, value);
        used = at + value.length;
        return scratch + at;
    }

    @Override
    public long string(String value) {
        byte[] text = RawText.encode(value);
        return bytes(Arrays.copyOf(text, text.length + 1));
    }

    @Override
    public Struct structure() {
        return new Struct(this);
    }

    /** What a call left at {@code address}. */
    @Override
    public byte[] read(long address, int count) {
        return memory.readBytes(address, count);
    }

    @Override
    public int readInt(long address) {
        return ByteBuffer.wrap(read(address, 4)).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }

    void write(long address, MemorySegment bytes) {
        memory.write(address, bytes);
    }

    @Override
    public RestoreException failed(String what) {
        return owner.failed(what);
    }

    @Override
    public RestoreException unsupported(String what) {
        return owner.unsupported(what);
    }

    @Override
    public RestoreException inUse(String what) {
        return owner.inUse(what);
    }

    @Override
    public RestoreException changed(String what) {
        return owner.changed(what);
    }

    @Override
    public String name() {
        return owner.name();
    }

    @Override
    public void close() {
        job.remove(this);
        memory.close();
    }

    @Override
    public long passed(int from, long descriptor) {
        return Handover.pass(this, job.host(from), List.of(descriptor))[0];
    }
}
