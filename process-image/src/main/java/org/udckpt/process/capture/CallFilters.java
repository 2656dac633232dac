package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.process.kinds.base.CallFilter;
import org.udckpt.process.kinds.base.ClassicBpf;
import org.udckpt.process.trace.Ptrace;

/**
 * Filters of system calls that threads have installed (seccomp(2)). They are suspended until the process goes on: they
 * are not asked about what is called in it meanwhile.
 */
final class CallFilters {
    private static final String MODE = "Seccomp:", COUNT = "Seccomp_filters:"; // proc_pid_status(5)
    private static final String STRICT = "1";
    /** BPF_RET | BPF_K, and in its operand the action of SECCOMP_RET_USER_NOTIF. */
    private static final int RETURN = 0x06, ACTION = 0xffff0000, ASK = 0x7fc00000;
    private static final TaskStatus OWN = new TaskStatus(Proc.text("/proc/self/status"));

    private CallFilters() {}

    /** On the tracer thread, when the threads' status has been read, and before any call is made in the process. */
    static void read(TracedProcess process) {
        List<TracedThread> filtered = process.threads.stream().filter(CallFilters::has).toList();
        if (filtered.isEmpty()) {
            return;
        }
        List<CallFilter> filters = new ArrayList<>();
        for (TracedThread thread : filtered) {
            suspend(process, thread);
            if (thread.status.field(MODE).equals(STRICT)) {
                filters.add(new CallFilter(thread.namespaceTid, 0, new byte[0]));
            } else {
                read(process, thread, filters);
            }
        }
        process.callFilters = filters;
    }

    /** Other ones than this process, whose own all that it starts have. */
    private static boolean has(TracedThread thread) {
        return !OWN.agrees(MODE, thread.status) || !OWN.agrees(COUNT, thread.status);
    }

    private static void suspend(TracedProcess process, TracedThread thread) {
        thread.traceOptions = Ptrace.O_TRACESYSGOOD | Ptrace.O_SUSPEND_SECCOMP;
        permitted(process, thread, "PTRACE_O_SUSPEND_SECCOMP",
                Ptrace.request(Ptrace.SETOPTIONS, thread.tid, 0, thread.traceOptions));
    }

    /** Time does not mend what the kernel does not permit; that a thread has gone is told as elsewhere. */
    private static long permitted(TracedProcess process, TracedThread thread, String request, long result) {
        if (result < 0 && result != -LinuxError.ESRCH) {
            throw process.refuse("it installed its own seccomp filter, which only root can read and restore, outside "
                    + "of a container that filters system calls itself (ptrace(2), " + request + ": "
                    + LinuxError.name((int) -result) + ")");
        }
        return LinuxError.check(result, "seccomp filters of thread ", thread.tid);
    }

    private static void read(TracedProcess process, TracedThread thread, List<CallFilter> filters) {
        MemorySegment data = Scratch.data();
        for (int i = 0;; i++) {
            long count = Ptrace.request(Ptrace.SECCOMP_GET_FILTER, thread.tid, i, data.address());
            if (count == -LinuxError.ENOENT) {
                return;
            }
            permitted(process, thread, "PTRACE_SECCOMP_GET_FILTER", count);
            byte[] program = data.asSlice(0, count * ClassicBpf.INSTRUCTION).toArray(JAVA_BYTE);
            if (asks(program)) {
                throw process.refuse("a seccomp filter of thread " + thread.tid + " asks a supervisor what to do "
                        + "(SECCOMP_RET_USER_NOTIF), which would not be there after a restart");
            }
            data.set(JAVA_LONG, 0, i); // struct seccomp_metadata: filter_off, flags
            data.set(JAVA_LONG, 8, 0);
            permitted(process, thread, "PTRACE_SECCOMP_GET_METADATA",
                    Ptrace.request(Ptrace.SECCOMP_GET_METADATA, thread.tid, 16, data.address()));
            filters.add(new CallFilter(thread.namespaceTid, (int) data.get(JAVA_LONG, 8), program));
        }
    }

    private static boolean asks(byte[] program) {
        ByteBuffer instructions = ByteBuffer.wrap(program).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < program.length; at += ClassicBpf.INSTRUCTION) {
            if (instructions.getShort(at) == RETURN && (instructions.getInt(at + 4) & ACTION) == ASK) {
                return true;
            }
        }
        return false;
    }
}
