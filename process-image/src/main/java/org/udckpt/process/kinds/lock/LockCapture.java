package org.udckpt.process.kinds.lock;

import java.util.Set;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * File locks, from the "lock:" lines of fdinfo (proc_pid_fdinfo(5), proc_locks(5)):
 * {@code 1: POSIX  ADVISORY  WRITE 359 00:13:11691 0 EOF}. They are shown with the descriptor's open file.
 */
public final class LockCapture implements KindCapture, KindCapture.Looks, KindCapture.Sees {
    private static final int KIND = 1, STATE = 2, ACCESS = 3, START = 6, END = 7;
    private static final String LOCK = "lock:";
    private static final Set<String> KINDS = Set.of("FLOCK", "OFDLCK", "POSIX", "LEASE");

    private final ObjectTable table;

    LockCapture(CaptureScope scope) {
        this.table = scope.table();
    }

    /** To open a file may break what is on it. */
    @Override
    public void look(OpenDescriptor open) {
        for (String line : lines(open)) {
            if (line.startsWith(LOCK) && !KINDS.contains(words(line)[KIND])) {
                throw open.refuse("a file lock of kind " + words(line)[KIND] + " on " + open.link()
                        + " cannot be checkpointed; release it first");
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

    /** Locks that belong to the open file, and not to the process, are read once. */
    @Override
    public void seen(OpenDescriptor open, long object, boolean first) {
        for (String line : lines(open)) {
            if (line.startsWith(LOCK)) {
                String[] words = words(line);
                if (words[KIND].equals("LEASE")) {
                    continue; // of the signals
                }
                LockOwner owner = owner(open, words[KIND]);
                if (first || owner == LockOwner.PROCESS) {
                    long start = Long.parseLong(words[START]);
                    long length = words[END].equals("EOF") ? 0 : Long.parseLong(words[END]) - start + 1;
                    table.add(new FileLock(table.newId(), object, open.process().namespacePid(), owner,
                            words[ACCESS].equals("WRITE"), start, length));
                }
            }
        }
    }

    /**
     * A lease on an open file (fcntl(2), F_SETLEASE).
     *
     * @param active nobody is just breaking it
     * @param exclusive a write lease
     */
    public record Lease(boolean active, boolean exclusive) {}

    /** Null: there is none. */
    public static Lease lease(OpenDescriptor open) {
        for (String line : lines(open)) {
            String[] words = line.startsWith(LOCK) ? words(line) : new String[0];
            if (words.length > 0 && words[KIND].equals("LEASE")) {
                return new Lease(words[STATE].equals("ACTIVE"), words[ACCESS].equals("WRITE"));
            }
        }
        return null;
    }

    private static LockOwner owner(OpenDescriptor open, String kind) {
        return switch (kind) {
            case "FLOCK" -> LockOwner.FLOCK;
            case "OFDLCK" -> LockOwner.DESCRIPTION;
            case "POSIX" -> LockOwner.PROCESS;
            default -> throw open.refuse("a file lock of kind " + kind + " on " + open.link() + " cannot be "
                    + "checkpointed; release it first");
        };
    }
}
