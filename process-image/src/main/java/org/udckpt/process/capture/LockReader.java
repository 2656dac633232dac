package org.udckpt.process.capture;

import java.util.Set;
import org.udckpt.process.model.KernelObject.FileLock;
import org.udckpt.process.model.KernelObject.LockOwner;

/**
 * File locks, from the "lock:" lines of fdinfo (proc_pid_fdinfo(5), proc_locks(5)):
 * {@code 1: POSIX  ADVISORY  WRITE 359 00:13:11691 0 EOF}. They are shown with the descriptor's open file.
 */
final class LockReader {
    private static final int KIND = 1, STATE = 2, ACCESS = 3, START = 6, END = 7;
    private static final String LOCK = "lock:";
    private static final Set<String> KINDS = Set.of("FLOCK", "OFDLCK", "POSIX", "LEASE");

    private LockReader() {}

    /** @throws CaptureRefused naming a lock that cannot be taken again. To be asked before any file is opened, which may break what is on it */
    static void refuse(OpenDescriptor open) {
        for (String line : lines(open)) {
            if (line.startsWith(LOCK) && !KINDS.contains(words(line)[KIND])) {
                throw open.refuse("a file lock of kind " + words(line)[KIND] + " on " + open.link() + " cannot be checkpointed; release it first");
            }
        }
    }

    /** None of a descriptor without locks, which most are. */
    private static String[] lines(OpenDescriptor open) {
        return open.info().contains(LOCK) ? open.info().split("\n") : new String[0];
    }

    private static String[] words(String line) {
        return line.substring(LOCK.length()).strip().split("\\s+");
    }

    /** @param first this open file was not seen before: locks that belong to it, and not to the process, are read once */
    static void read(OpenDescriptor open, long object, boolean first, ObjectTable table, SignalOwners signals) {
        for (String line : lines(open)) {
            if (line.startsWith(LOCK)) {
                String[] words = words(line);
                if (words[KIND].equals("LEASE")) {
                    if (first) {
                        lease(open, object, words, signals);
                    }
                    continue;
                }
                LockOwner owner = owner(open, words[KIND]);
                if (first || owner == LockOwner.PROCESS) {
                    long start = Long.parseLong(words[START]);
                    long length = words[END].equals("EOF") ? 0 : Long.parseLong(words[END]) - start + 1;
                    table.add(new FileLock(table.newId(), object, open.process().namespacePid, owner, words[ACCESS].equals("WRITE"), start, length));
                }
            }
        }
    }

    private static void lease(OpenDescriptor open, long object, String[] words, SignalOwners signals) {
        if (!words[STATE].equals("ACTIVE")) {
            throw new CaptureFailed("%s: the lease on %s is just being broken by somebody who opens it".formatted(open.process(), open.link()));
        }
        signals.lease(open, object, words[ACCESS].equals("WRITE"));
    }

    private static LockOwner owner(OpenDescriptor open, String kind) {
        return switch (kind) {
            case "FLOCK" -> LockOwner.FLOCK;
            case "OFDLCK" -> LockOwner.DESCRIPTION;
            case "POSIX" -> LockOwner.PROCESS;
            default -> throw open.refuse("a file lock of kind " + kind + " on " + open.link() + " cannot be checkpointed; release it first");
        };
    }
}
