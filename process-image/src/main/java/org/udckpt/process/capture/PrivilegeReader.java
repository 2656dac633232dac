package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.PR_GET_SECUREBITS;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.Privileges;

/**
 * Finds threads that have left the user, groups, capabilities or secure bits that their job was started with (servers
 * of root whose workers are somebody else's). An ordinary user's can only have done so in ways that the user could not
 * repeat: they are refused.
 */
final class PrivilegeReader {
    /** proc_pid_status(5). */
    private static final String GROUPS = "Groups:";
    private static final String[] IDS = {"Uid:", "Gid:", GROUPS};
    private static final String[] CAPABILITIES = {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"};
    private static final String NO_NEW_PRIVILEGES = "NoNewPrivs:";
    private static final boolean ROOT = Syscall.call(Syscall.GETEUID) == 0;

    private final TaskStatus origin;

    /** @param origin status of the process that the roots should be like */
    PrivilegeReader(TaskStatus origin) {
        this.origin = origin;
    }

    /** From outside. */
    void read(TracedProcess process, TracedThread thread) {
        TaskStatus status = thread.status;
        TaskStatus first = process.main().status;
        boolean main = thread == process.main();
        if (ROOT) {
            thread.ownCredentials = process.ownUsers || other(status, origin, IDS) != null
                    || other(status, origin, CAPABILITIES) != null;
        } else {
            refuseOther(process, thread, main ? origin : first, IDS, "other user or group ids");
            thread.ownCredentials = process.ownUsers;
            // a main thread has none; in the namespaces of a restart its shepherd keeps some
            if (!main && !process.ownUsers) {
                refuseOther(process, thread, first, CAPABILITIES, "other capabilities");
            }
        }
        if ((main || !status.agrees(GROUPS, first))
                && Privileges.Credentials.MOST_GROUPS < words(status.field(GROUPS)).count()) {
            throw process.refuse("thread " + thread.tid + " is in more than " + Privileges.Credentials.MOST_GROUPS
                    + " groups, which cannot be checkpointed");
        }
        thread.noNewPrivileges =
                status.agrees(NO_NEW_PRIVILEGES, first) ? null : "1".equals(status.field(NO_NEW_PRIVILEGES));
    }

    /** The first field that differs, or null. */
    private static String other(TaskStatus status, TaskStatus expected, String... fields) {
        for (String field : fields) {
            if (!status.agrees(field, expected)) {
                return field;
            }
        }
        return null;
    }

    private static void refuseOther(TracedProcess process, TracedThread thread, TaskStatus expected, String[] fields,
            String what) {
        String field = other(thread.status, expected, fields);
        if (field != null) {
            throw process.refuse(("thread %d has %s than it was started with (%s %s, not %s), which only root can "
                    + "restore")
                    .formatted(thread.tid, what, field, thread.status.field(field), expected.field(field)));
        }
    }

    /** By calls in the threads: of all main ones, and of all those of processes in which one is not as at first. */
    static void ask(List<TracedProcess> processes) {
        if (!ROOT) { // only who has capabilities can change them
            askThreads(processes.stream().filter(process -> process.ownUsers)
                    .flatMap(process -> process.threads.stream()).toList());
            return;
        }
        int own = (int) Syscall.call(Syscall.PRCTL, PR_GET_SECUREBITS);
        askThreads(processes.stream().map(TracedProcess::main).toList());
        List<TracedProcess> changed = processes.stream().filter(
                process -> process.main().secureBits != own
                        || process.withEndedMain().stream().anyMatch(t -> t.ownCredentials))
                .toList();
        askThreads(changed.stream().flatMap(process -> process.threads.stream().skip(1)).toList());
        for (TracedProcess process : changed) {
            for (TracedThread thread : process.threads) {
                thread.ownCredentials |= thread.secureBits != own;
            }
        }
    }

    private static void askThreads(List<TracedThread> threads) {
        long[] bits = CallInAll.make(threads.stream().map(thread -> thread.injector).toList(),
                _ -> new long[]{Syscall.PRCTL, PR_GET_SECUREBITS});
        for (int i = 0; i < bits.length; i++) {
            threads.get(i).secureBits = (int) bits[i];
        }
    }

    /** The records, from what was read. */
    static List<Privileges> records(TracedProcess process) {
        List<Privileges> records = new ArrayList<>();
        for (TracedThread thread : process.withEndedMain()) {
            if (thread.ownCredentials) {
                records.add(credentials(process.namespacePid, thread));
            }
            if (thread.noNewPrivileges != null) {
                records.add(new Privileges.NoNewPrivileges(process.namespacePid, thread.namespaceTid,
                        thread.noNewPrivileges));
            }
        }
        return records;
    }

    private static Privileges.Credentials credentials(int pid, TracedThread thread) {
        TaskStatus status = thread.status;
        return new Privileges.Credentials(pid, thread.namespaceTid, numbers(status, "Uid:"), numbers(status, "Gid:"),
                numbers(status, GROUPS), bits(status, "CapInh:"),
                bits(status, "CapPrm:"), bits(status, "CapEff:"), bits(status, "CapBnd:"), bits(status, "CapAmb:"),
                thread.secureBits);
    }

    private static int[] numbers(TaskStatus status, String field) {
        return words(status.field(field)).mapToInt(Integer::parseUnsignedInt).toArray();
    }

    private static Stream<String> words(String text) {
        return Arrays.stream(text.split("\\s+")).filter(word -> !word.isEmpty());
    }

    private static long bits(TaskStatus status, String field) {
        return Long.parseUnsignedLong(status.field(field), 16);
    }
}
