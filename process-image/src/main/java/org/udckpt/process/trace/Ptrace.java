package org.udckpt.process.trace;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.WNOHANG;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** ptrace(2) and wait4(2). Only the thread that seized a tracee may call these for it: use a {@link TracerThread}. */
public final class Ptrace {
    public static final int CONT = 7, DETACH = 17, SYSCALL = 24, SETOPTIONS = 0x4200, GETEVENTMSG = 0x4201,
            GETSIGINFO = 0x4202,
            GETREGSET = 0x4204, SETREGSET = 0x4205, SEIZE = 0x4206, INTERRUPT = 0x4207, LISTEN = 0x4208,
            PEEKSIGINFO = 0x4209,
            GETSIGMASK = 0x420a, SETSIGMASK = 0x420b, GET_RSEQ_CONFIGURATION = 0x420f,
            GET_SYSCALL_USER_DISPATCH_CONFIG = 0x4211,
            SECCOMP_GET_FILTER = 0x420c, SECCOMP_GET_METADATA = 0x420d;
    public static final int O_TRACESYSGOOD = 1, O_TRACEFORK = 2, O_TRACEVFORK = 4, O_TRACECLONE = 8,
            O_EXITKILL = 0x100000, O_SUSPEND_SECCOMP = 0x200000;
    public static final int NT_PRSTATUS = 1, NT_X86_XSTATE = 0x202;
    /** Larger than any XSAVE area of today (AMX: 11 KiB). */
    private static final int XSTATE_MAX = 32768;
    private static final int ANY = -1;
    private static final int WNOTHREAD = 0x20000000, WALL = 0x40000000;
    /** The iovec and small results use the start of the scratch, register sets come after. */
    private static final int PAYLOAD = 64;

    /** By thread id: what was taken while another was awaited. A tracee that ends has no use for an earlier stop. */
    private static final ThreadLocal<Map<Integer, WaitStatus>> EARLY = ThreadLocal.withInitial(HashMap::new);

    private Ptrace() {}

    /** Raw request; the result or {@code -errno}. */
    public static long request(int request, int tid, long address, long data) {
        return Syscall.call(Syscall.PTRACE, request, tid, address, data);
    }

    public static void seize(int tid, int options) {
        LinuxError.check(request(SEIZE, tid, 0, options), "ptrace seize of thread ", tid);
    }

    public static void interrupt(int tid) {
        LinuxError.check(request(INTERRUPT, tid, 0, 0), "ptrace interrupt of thread ", tid);
    }

    public static void options(int tid, int options) {
        LinuxError.check(request(SETOPTIONS, tid, 0, options), "ptrace options of thread ", tid);
    }

    /** Resumes with {@code how} = CONT, SYSCALL, LISTEN or DETACH, delivering {@code signal} (0: none). */
    public static void resume(int how, int tid, int signal) {
        LinuxError.check(request(how, tid, 0, signal), "ptrace resume of thread ", tid);
    }

    /**
     * The next stop, or the end, of {@code tid}, awaited without end: only where one of them is certain. What other
     * tracees of this thread do meanwhile is kept for them: the end of a killed process's main thread is told only when
     * the ends of its other threads have been taken.
     */
    public static WaitStatus await(int tid) {
        while (true) {
            WaitStatus status = poll(tid);
            if (status != null) {
                return status;
            }
            takeAny(0);
        }
    }

    /**
     * The stop, or the end, that has happened already, or null. Whoever polls for long must {@link #takeOthers} too.
     */
    public static WaitStatus poll(int tid) {
        WaitStatus early = EARLY.get().remove(tid);
        return early != null ? early : wait(tid, WALL | WNOHANG) == 0 ? null : lastStatus();
    }

    /** Keeps what other tracees of this thread have done already, as {@link #await} does. */
    public static void takeOthers() {
        while (takeAny(WNOHANG)) {
            // until nothing is left
        }
    }

    private static boolean takeAny(int options) {
        int any = wait(ANY, WALL | WNOTHREAD | options);
        if (any != 0) {
            EARLY.get().put(any, lastStatus());
        }
        return any != 0;
    }

    /** wait4(2): the thread whose event was taken; 0: none. {@link #lastStatus} has the event. */
    private static int wait(int tid, int options) {
        long result = Syscall.call(Syscall.WAIT4, tid, Scratch.data().address(), options, 0);
        return result == -LinuxError.EINTR ? 0 : (int) LinuxError.check(result, "wait for thread ", tid);
    }

    private static WaitStatus lastStatus() {
        return new WaitStatus(Scratch.data().get(JAVA_INT, 0));
    }

    /** The new thread's id, after a fork, vfork or clone event. */
    public static int eventMessage(int tid) {
        MemorySegment data = Scratch.data();
        LinuxError.check(request(GETEVENTMSG, tid, 0, data.address()), "event of thread ", tid);
        return (int) data.get(JAVA_LONG, 0);
    }

    public static void registers(int tid, Registers into) {
        MemorySegment data = iovec(Registers.BYTES);
        LinuxError.check(request(GETREGSET, tid, NT_PRSTATUS, data.address()), "registers of thread ", tid);
        MemorySegment.copy(data, JAVA_LONG, PAYLOAD, into.words(), 0, Registers.WORDS);
    }

    public static Registers registers(int tid) {
        Registers registers = new Registers();
        registers(tid, registers);
        return registers;
    }

    public static void setRegisters(int tid, Registers registers) {
        MemorySegment data = iovec(Registers.BYTES);
        MemorySegment.copy(registers.words(), 0, data, JAVA_LONG, PAYLOAD, Registers.WORDS);
        LinuxError.check(request(SETREGSET, tid, NT_PRSTATUS, data.address()), "set registers of thread ", tid);
    }

    /** The XSAVE area in standard format. */
    public static byte[] xstate(int tid) {
        MemorySegment data = iovec(XSTATE_MAX);
        LinuxError.check(request(GETREGSET, tid, NT_X86_XSTATE, data.address()), "xstate of thread ", tid);
        byte[] out = new byte[(int) data.get(JAVA_LONG, 8)];
        MemorySegment.copy(data, JAVA_BYTE, PAYLOAD, out, 0, out.length);
        return out;
    }

    public static void setXstate(int tid, byte[] xstate) {
        MemorySegment data = iovec(xstate.length);
        MemorySegment.copy(xstate, 0, data, JAVA_BYTE, PAYLOAD, xstate.length);
        LinuxError.check(request(SETREGSET, tid, NT_X86_XSTATE, data.address()), "set xstate of thread ", tid);
    }

    /** Blocked signals, bit (signal - 1). */
    public static long signalMask(int tid) {
        MemorySegment data = Scratch.data();
        LinuxError.check(request(GETSIGMASK, tid, 8, data.address()), "signal mask of thread ", tid);
        return data.get(JAVA_LONG, 0);
    }

    public static void setSignalMask(int tid, long mask) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_LONG, 0, mask);
        LinuxError.check(request(SETSIGMASK, tid, 8, data.address()), "set signal mask of thread ", tid);
    }

    /**
     * Pending signals as siginfo_t (128 bytes each), in queue order, of the thread or (shared) of its process.
     * They stay pending.
     */
    public static byte[] pendingSignals(int tid, boolean shared) {
        MemorySegment data = Scratch.data();
        int most = (Scratch.DATA_BYTES - PAYLOAD) / 128;
        byte[] all = new byte[0];
        while (true) {
            data.set(JAVA_LONG, 0, all.length / 128);
            data.set(JAVA_INT, 8, shared ? 1 : 0);
            data.set(JAVA_INT, 12, most);
            int count = (int) LinuxError.check(request(PEEKSIGINFO, tid, data.address(), data.address() + PAYLOAD),
                    "pending signals of thread ", tid);
            int end = all.length;
            all = java.util.Arrays.copyOf(all, end + count * 128);
            MemorySegment.copy(data, JAVA_BYTE, PAYLOAD, all, end, count * 128);
            if (count < most) {
                return all;
            }
        }
    }

    /** struct ptrace_rseq_configuration as {address, size, signature, flags}; zeros when the thread has none. */
    public static long[] rseq(int tid) {
        MemorySegment data = Scratch.data();
        data.asSlice(0, 24).fill((byte) 0);
        LinuxError.check(request(GET_RSEQ_CONFIGURATION, tid, 24, data.address()), "rseq of thread ", tid);
        return new long[]{data.get(JAVA_LONG, 0), data.get(JAVA_INT, 8), data.get(JAVA_INT, 12) & 0xffffffffL,
                data.get(JAVA_INT, 16)};
    }

    /**
     * Whether system calls of the thread go to a handler of its own (prctl(2), PR_SET_SYSCALL_USER_DISPATCH); kernels
     * before 6.4 do not say.
     */
    public static boolean dispatchesCalls(int tid) {
        MemorySegment data = Scratch.data();
        // struct ptrace_sud_config: mode first
        return request(GET_SYSCALL_USER_DISPATCH_CONFIG, tid, 32, data.address()) >= 0 && data.get(JAVA_LONG, 0) != 0;
    }

    private static MemorySegment iovec(int bytes) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_LONG, 0, data.address() + PAYLOAD);
        data.set(JAVA_LONG, 8, bytes);
        return data;
    }
}
