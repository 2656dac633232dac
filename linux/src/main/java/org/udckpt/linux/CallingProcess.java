package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWUSER;
import static org.udckpt.linux.LinuxConstants.PR_GET_DUMPABLE;
import static org.udckpt.linux.LinuxConstants.PR_SET_DUMPABLE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;

/**
 * A process that shares this one's memory and descriptors, and makes system calls where no thread of this one can be:
 * in another user namespace (agent_calls.c). One call at a time.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
final class CallingProcess implements AutoCloseable {
    /** struct calls */
    private static final int PID = 4, NUMBER = 8, ARGUMENTS = 16, BYTES = 80;

    /** MANY and struct one_of_many */
    private static final int MANY = -1, ONE_NUMBER = 0, ONE_ARGUMENTS = 8, ONE_RESULT = 56, ONE_BYTES = 64;

    private static volatile Path library;
    private static int living;
    private static long dumpable;

    /** Looked up when one is needed first. */
    private static final class Library {
        static final MemorySegment BEGIN = find("begin"), MAKE = find("make"), END = find("end");

        private static MemorySegment find(String name) {
            return SymbolLookup.libraryLookup(library, Arena.global()).findOrThrow("udckpt_agent_calls_" + name);
        }
    }

    private final MemorySegment calls;

    /** @throws LinuxError there cannot be one more process */
    CallingProcess() {
        if (library == null) {
            throw new IllegalStateException("libudckpt-agent.so is not known");
        }
        MemorySegment begin = Library.BEGIN; // what cannot be found fails before anything is changed
        hide();
        long address = invoke(begin, 0);
        if (address < 0 && address > -4096) {
            leave();
        }
        calls = MemorySegment.ofAddress(LinuxError.check(address, "start a process for system calls"))
                .reinterpret(BYTES);
    }

    /** Where libudckpt-agent.so is. */
    static void library(Path path) {
        library = path;
    }

    private static long invoke(MemorySegment function, long argument) {
        return NativeCall.call(function, argument, 0, 0);
    }

    int pid() {
        return calls.get(JAVA_INT, PID);
    }

    /** The result, or {@code -errno}. Addresses and descriptors are those of this process. */
    synchronized long call(long number, long[] arguments) {
        calls.set(JAVA_LONG, NUMBER, number);
        for (int i = 0; i < arguments.length; i++) {
            calls.set(JAVA_LONG, ARGUMENTS + 8L * i, arguments[i]);
        }
        return invoke(Library.MAKE, calls.address());
    }

    /** As {@link #call}, of several in their order, each a number and its arguments: this process waits once. */
    long[] calls(long[][] several) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate((long) ONE_BYTES * several.length, Long.BYTES);
            for (int i = 0; i < several.length; i++) {
                all.set(JAVA_LONG, (long) ONE_BYTES * i + ONE_NUMBER, several[i][0]);
                for (int j = 1; j < several[i].length; j++) {
                    all.set(JAVA_LONG, (long) ONE_BYTES * i + ONE_ARGUMENTS + (j - 1L) * Long.BYTES, several[i][j]);
                }
            }
            LinuxError.check(call(MANY, new long[]{all.address(), several.length, 0, 0, 0, 0}), "system calls");
            long[] results = new long[several.length];
            for (int i = 0; i < several.length; i++) {
                results[i] = all.get(JAVA_LONG, (long) ONE_BYTES * i + ONE_RESULT);
            }
            return results;
        }
    }

    /** Enters a user namespace. */
    void enter(int namespace) {
        LinuxError.check(call(Syscall.SETNS, new long[]{namespace, CLONE_NEWUSER, 0, 0, 0, 0}),
                "enter a user namespace");
    }

    /**
     * What it makes from now on belongs to this user and group (setfsuid(2)): root may have no number in the user
     * namespace that it enters next. Not after that: who has all capabilities there must not find it dumpable, which
     * the change makes it where fs.suid_dumpable is 1.
     */
    void makeFilesAs(int uid, int gid) {
        become("setfsgid", Syscall.SETFSGID, gid);
        become("setfsuid", Syscall.SETFSUID, uid);
        LinuxError.check(Syscall.call(Syscall.PRCTL, PR_SET_DUMPABLE, 0), "PR_SET_DUMPABLE");
    }

    /** These calls tell no errors, but who it was. */
    private void become(String what, long call, int id) {
        long[] wanted = {Integer.toUnsignedLong(id), 0, 0, 0, 0, 0};
        call(call, wanted);
        if ((int) call(call, wanted) != id) {
            throw new LinuxError(what + " to " + Integer.toUnsignedString(id), LinuxError.EPERM);
        }
    }

    @Override
    public synchronized void close() {
        invoke(Library.END, calls.address());
        leave();
    }

    /**
     * Who has all capabilities in a user namespace could trace who enters it (ptrace(2)), and would have this process's
     * memory: so nobody may who is not root, as long as there is one.
     */
    private static synchronized void hide() {
        if (living++ == 0) {
            dumpable = Syscall.call(Syscall.PRCTL, PR_GET_DUMPABLE);
            LinuxError.check(Syscall.call(Syscall.PRCTL, PR_SET_DUMPABLE, 0), "PR_SET_DUMPABLE");
        }
    }

    private static synchronized void leave() {
        if (--living == 0 && dumpable == 1) {
            Syscall.call(Syscall.PRCTL, PR_SET_DUMPABLE, 1);
        }
    }
}
