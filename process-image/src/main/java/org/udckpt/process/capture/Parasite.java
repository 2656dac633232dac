package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Registers;

/**
 * Where system calls are injected in one process: parasite.S in its libudckpt.so, which goes on by itself if the agent
 * dies; or, in a process without the library, the syscall instruction of the vDSO, which does not.
 *
 * @param safe   it is parasite.S
 * @param writer where snapshot_writer.c begins; -1 when it is not there, {@link #UNLINKED} when it cannot run yet
 */
record Parasite(long instruction, boolean safe, long writer) {
    static final long UNLINKED = -2;
    private static final String WRITER = "udckpt_snapshot_writer_2";
    /** Offsets of the snapshot routine and of the one that finishes a transfer; parasite.S has the same numbers. */
    private static final int FORK = 64, REST = 256;
    /** Bytes of a frame: mask, 15 registers, and what iretq takes. */
    private static final int FRAME_BYTES = 168;
    /** For results of injected calls, above the frame. */
    private static final int RESULTS = 192;
    private static final int AREA = 640;
    static final int RESULT_BYTES = AREA - RESULTS - 64;
    private static final int RED_ZONE = 128;
    private static final long MAGIC = 0x3152_4150_4b43_4455L; // "UDCKPAR1"
    private static final int[] POPPED =
            {Registers.R15, Registers.R14, Registers.R13, Registers.R12, Registers.R11, Registers.R10,
                    Registers.R9, Registers.R8, Registers.RBP, Registers.RDI, Registers.RSI, Registers.RDX,
                    Registers.RCX, Registers.RBX, Registers.RAX,
                    Registers.RIP, Registers.CS, Registers.EFLAGS, Registers.RSP, Registers.SS};
    private static final int SYSCALL_BYTES = 2;

    static Parasite locate(TracedProcess process) {
        PreloadedLibrary library = PreloadedLibrary.find(process);
        if (library != null) {
            long address = library.address("udckpt_parasite");
            Mapping code = library.mapping(address - 8, 8 + REST);
            if (code != null && code.executable()) {
                if (process.memory.readLong(address - 8) != MAGIC) {
                    throw process.refuse(library.path()
                            + " is not the library of this agent; start the job again with `udckpt run`");
                }
                return new Parasite(address, true, library.linked() ? library.find(WRITER) : UNLINKED);
            }
        }
        for (Mapping mapping : process.mappings) {
            if (mapping.vdso()) {
                return new Parasite(vdsoSyscall(process, mapping), false, -1);
            }
        }
        throw process.refuse("it has neither libudckpt.so nor a vDSO, so no system call can be made in it");
    }

    private static long vdsoSyscall(TracedProcess process, Mapping vdso) {
        byte[] code = process.memory.readBytes(vdso.start(), (int) (vdso.end() - vdso.start()));
        for (int i = 0; i + 1 < code.length; i++) {
            if (code[i] == 0x0f && code[i + 1] == 0x05) {
                return vdso.start() + i;
            }
        }
        throw process.refuse("its vDSO holds no syscall instruction");
    }

    long forkRoutine() {
        return instruction + FORK;
    }

    long restRoutine() {
        return instruction + REST;
    }

    /** Address of the frame of a thread with this stack pointer. */
    static long frame(long stackPointer) {
        return (stackPointer - RED_ZONE - AREA) & -64;
    }

    static long results(long frame) {
        return frame + RESULTS;
    }

    /** Writes the frame with which {@code thread} can leave by itself. Its stack must have the room. */
    void writeFrame(TracedProcess process, TracedThread thread) {
        long rsp = thread.registers.get(Registers.RSP);
        long frame = frame(rsp);
        boolean room = false;
        for (Mapping mapping : process.mappings) {
            room |= mapping.covers(frame - RED_ZONE, frame + AREA) && mapping.writable();
        }
        if (!room) {
            throw new CaptureFailed(
                    "%s: thread %d has less than 1 KiB of stack left below 0x%x".formatted(process, thread.tid, rsp));
        }
        try {
            writeFrame(process.memory, frame, thread.signalMask, leaving(thread.registers));
        } catch (LinuxError failure) {
            throw new CaptureFailed("%s: no frame on the stack of thread %d".formatted(process, thread.tid), failure);
        }
        thread.frame = frame;
    }

    /**
     * Writes the frame with which a thread whose stack pointer is {@code frame} goes from the injected call to
     * {@code leave}.
     */
    static void writeFrame(ProcessMemory memory, long frame, long signalMask, Registers leave) {
        MemorySegment data = Scratch.data().asSlice(0, FRAME_BYTES);
        data.set(JAVA_LONG, 0, signalMask);
        for (int i = 0; i < POPPED.length; i++) {
            data.set(JAVA_LONG, 8 + 8L * i, leave.get(POPPED[i]));
        }
        memory.write(frame, data);
    }

    /**
     * As the kernel itself restarts a call that a stop interrupted (arch_do_signal_or_restart,
     * arch/x86/kernel/signal.c).
     */
    private static Registers leaving(Registers registers) {
        Registers leave = registers.copy();
        if (registers.systemCall() >= 0) {
            switch (registers.error()) {
                case Registers.ERESTARTSYS, Registers.ERESTARTNOINTR,
                        Registers.ERESTARTNOHAND -> leave.set(Registers.RAX, registers.systemCall())
                                .set(Registers.RIP, registers.get(Registers.RIP) - SYSCALL_BYTES);
                case Registers.ERESTART_RESTARTBLOCK -> leave.set(Registers.RAX, Syscall.RESTART_SYSCALL)
                        .set(Registers.RIP, registers.get(Registers.RIP) - SYSCALL_BYTES);
                default -> {
                }
            }
        }
        return leave;
    }
}
