package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.RLIMIT_AS;
import static org.udckpt.linux.LinuxConstants.RLIMIT_DATA;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.CallLoop;
import org.udckpt.process.trace.Injector;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;

/**
 * Many system calls of a snapshot with one stop of it, to ask the kernel what the process had. The job runs meanwhile.
 * On the tracer thread, and when the mappings of the snapshot have been read: it maps some memory of its own. The trap
 * at the end resets the handler of SIGTRAP: what asks for handlers is in the first run.
 */
final class SnapshotCalls {
    private static final int MOST = 512, ENTRIES = MOST * CallLoop.ENTRY, ROOM = 1 << 16, READ_WRITE = 3,
            READ_EXECUTE = 5, PRIVATE_ANONYMOUS = 0x22;
    private static final int PAGE = 4096;

    private final Snapshot snapshot;
    private final Injector injector;
    private final long entries;
    /**
     * Address of the loop that makes the calls; 0: the process may have no memory for it, and each call needs a stop of
     * its own.
     */
    private final long code;
    private final ByteBuffer list = ByteBuffer.allocate(ENTRIES).order(ByteOrder.LITTLE_ENDIAN);
    private int count;
    private int used;
    private long[] results = {};

    SnapshotCalls(TracedProcess process) {
        snapshot = process.snapshot;
        injector = new Injector(snapshot.pid(), process.parasite.instruction(),
                process.main().registers.copy().set(Registers.RSP, process.main().frame));
        try (RaisedLimit _ = new RaisedLimit(snapshot.pid(), RLIMIT_AS);
                RaisedLimit _ = new RaisedLimit(snapshot.pid(), RLIMIT_DATA)) {
            long mapped = injector.call(Syscall.MMAP, 0, ENTRIES + ROOM + PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
            if (mapped == -LinuxError.ENOMEM) {
                code = 0;
                entries = belowTheStack(process) - ENTRIES;
            } else {
                entries = LinuxError.check(mapped, "mmap in the snapshot");
                code = entries + ENTRIES + ROOM;
                snapshot.memory().writeBytes(code, CallLoop.code());
                injector.check("mprotect in the snapshot", Syscall.MPROTECT, code, PAGE, READ_EXECUTE);
            }
        }
    }

    /** Where the process may have no more memory: what its stack has not used yet. */
    private static long belowTheStack(TracedProcess process) {
        long frame = process.main().frame;
        for (Mapping mapping : process.mappings) {
            if (mapping.start() <= frame && frame < mapping.end() && frame - mapping.start() >= ROOM) {
                return mapping.start();
            }
        }
        throw process.refuse("it has reached its memory limit (RLIMIT_AS, RLIMIT_DATA), and a checkpoint needs "
                + (ENTRIES + ROOM + PAGE) / 1024
                + " KiB for a short time in a copy of it: raise the limit (ulimit -v, -d)");
    }

    /** Its place among the results of the next {@link #run}. */
    int add(long number, long... arguments) {
        int at = count * CallLoop.ENTRY;
        list.putLong(at, number);
        for (int i = 0; i < 6; i++) {
            list.putLong(at + 8 + 8 * i, i < arguments.length ? arguments[i] : 0);
        }
        return count++;
    }

    /** Address of zeros for what a call writes, until the run after the next one. */
    long room(int bytes) {
        long at = entries + ENTRIES + used;
        used += bytes + 7 & -8;
        if (code == 0) {
            snapshot.memory().writeBytes(at, new byte[bytes]);
        }
        return at;
    }

    /** As {@link #room}, with these bytes. */
    long bytes(byte[] value) {
        long at = room(value.length);
        snapshot.memory().writeBytes(at, value);
        return at;
    }

    /** Whether it has to {@link #run} before so many calls and so much room more. */
    boolean full(int calls, int bytes) {
        return count + calls > MOST || used + bytes + 8 > ROOM;
    }

    void run() {
        results = new long[count];
        if (code == 0) {
            for (int i = 0; i < count; i++) {
                int at = i * CallLoop.ENTRY;
                results[i] = injector.call(list.getLong(at), list.getLong(at + 8), list.getLong(at + 16),
                        list.getLong(at + 24), list.getLong(at + 32),
                        list.getLong(at + 40), list.getLong(at + 48));
            }
        } else if (count > 0) {
            snapshot.memory().writeBytes(entries, java.util.Arrays.copyOf(list.array(), count * CallLoop.ENTRY));
            injector.execute(code, entries, count);
            Ptrace.setSignalMask(snapshot.pid(), -1L); // a trap that is blocked is let through, and stays so
            ByteBuffer answers = ByteBuffer.wrap(read(entries, count * CallLoop.ENTRY)).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < count; i++) {
                results[i] = answers.getLong(i * CallLoop.ENTRY + CallLoop.RESULT);
            }
        }
        count = 0;
        used = 0;
    }

    /** A result of the last run, or {@code -errno}. */
    long result(int place) {
        return results[place];
    }

    /** The result of a call that must not fail. */
    long check(int place, String what) {
        return LinuxError.check(results[place], what + " in the snapshot");
    }

    byte[] read(long address, int bytes) {
        return snapshot.memory().readBytes(address, bytes);
    }

    int readInt(long address) {
        return snapshot.memory().readInt(address);
    }

    long readLong(long address) {
        return snapshot.memory().readLong(address);
    }
}
