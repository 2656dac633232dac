package org.udckpt.image.storage;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Makes the calling thread one that gets only what nobody else wants. It is nice 19 and not SCHED_IDLE: a thread of that policy
 * can be kept from running for seconds, and the JVM's other threads, which answer the job, wait for it at each safepoint.
 */
public final class BackgroundThread {
    private static final long SYS_SETPRIORITY = 141; // numbers of x86_64
    private static final long SYS_IOPRIO_SET = 251;
    /** With 0 the calling thread: PRIO_PROCESS of setpriority(2), where Linux takes threads, and IOPRIO_WHO_PROCESS of ioprio_set(2). */
    private static final long PRIO_PROCESS = 0;
    private static final long IOPRIO_WHO_PROCESS = 1;
    private static final long IOPRIO_CLASS_IDLE = 3L << 13;
    private static final long NICEST = 19;

    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle SYSCALL = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("syscall").orElseThrow(), FunctionDescriptor.of(ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG), Linker.Option.captureCallState("errno"));

    private BackgroundThread() { }

    /**
     * Takes the thread to the idle class of I/O and to nice 19, for the rest of its life: an ordinary user cannot go back.
     *
     * @throws IOException naming the call that the system refuses
     */
    public static void become() throws IOException {
        call("ioprio_set", SYS_IOPRIO_SET, IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_IDLE);
        call("setpriority", SYS_SETPRIORITY, PRIO_PROCESS, 0, NICEST);
    }

    private static void call(String name, long number, long a, long b, long c) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long result = (long) SYSCALL.invokeExact(state, number, a, b, c);
            if (result < 0) {
                throw new IOException(name + ": " + Errno.text((int) ERRNO.get(state, 0L)));
            }
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(name, e);
        }
    }
}
