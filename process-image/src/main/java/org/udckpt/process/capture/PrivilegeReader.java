package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.Privileges;

/**
 * Finds threads that have left the user, groups, capabilities or secure bits that their job was started with (servers of root whose
 * workers are somebody else's). An ordinary user's can only have done so in ways that the user could not repeat: they are refused.
 */
final class PrivilegeReader {
    /** proc_pid_status(5). */
    private static final String[] IDS = {"Uid:", "Gid:", "Groups:"};
    private static final String[] CAPABILITIES = {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"};
    private static final String NO_NEW_PRIVILEGES = "NoNewPrivs:";
    private static final int PR_GET_SECUREBITS = 27;
    private static final boolean ROOT = Syscall.call(107 /* geteuid */) == 0;

    private final String origin;

    /** @param origin status of the process that the roots should be like */
    PrivilegeReader(String origin) {
        this.origin = origin;
    }

    /** From outside. {@code status}: the thread's. */
    void read(TracedProcess process, TracedThread thread, String status) {
        boolean main = thread == process.main();
        if (ROOT) {
            thread.credentials = other(status, origin, IDS) == null && other(status, origin, CAPABILITIES) == null ? null : status;
        } else {
            refuseOther(process, thread, status, main ? origin : process.status, IDS, "other user or group ids");
            if (!main) { // a main thread has none; in the namespaces of a restart its shepherd keeps some
                refuseOther(process, thread, status, process.status, CAPABILITIES, "other capabilities");
            }
        }
        if (Privileges.Credentials.MOST_GROUPS < words(Proc.field(status, "Groups:")).count()) {
            throw process.refuse("thread " + thread.tid + " is in more than " + Privileges.Credentials.MOST_GROUPS + " groups, which cannot be checkpointed");
        }
        thread.noNewPrivileges = other(status, process.status, NO_NEW_PRIVILEGES) == null ? null : set(status);
    }

    private static boolean set(String status) {
        return "1".equals(Proc.field(status, NO_NEW_PRIVILEGES));
    }

    /** The first field that differs, or null. */
    private static String other(String status, String expected, String... fields) {
        for (String field : fields) {
            String own = Proc.field(status, field);
            if (own != null && !own.equals(Proc.field(expected, field))) {
                return field;
            }
        }
        return null;
    }

    private static void refuseOther(TracedProcess process, TracedThread thread, String status, String expected, String[] fields, String what) {
        String field = other(status, expected, fields);
        if (field != null) {
            throw process.refuse("thread %d has %s than it was started with (%s %s, not %s), which only root could give it at a restart".formatted(thread.tid, what, field,
                    Proc.field(status, field), Proc.field(expected, field)));
        }
    }

    /** By calls in the threads: of all main ones, and of all those of processes in which one is not as at first. */
    static void ask(List<TracedProcess> processes) {
        if (!ROOT) {
            return; // only who has capabilities can change them
        }
        int own = (int) Syscall.call(Syscall.PRCTL, PR_GET_SECUREBITS);
        askThreads(processes.stream().map(TracedProcess::main).toList());
        List<TracedProcess> changed = processes.stream().filter(process -> process.main().secureBits != own || process.threads.stream().anyMatch(t -> t.credentials != null)).toList();
        askThreads(changed.stream().flatMap(process -> process.threads.stream().skip(1)).toList());
        for (TracedProcess process : changed) {
            for (TracedThread thread : process.threads) {
                if (thread.secureBits != own && thread.credentials == null) {
                    thread.credentials = Proc.text("/proc/" + process.pid + "/task/" + thread.tid + "/status");
                }
            }
        }
    }

    private static void askThreads(List<TracedThread> threads) {
        long[] bits = CallInAll.make(threads.stream().map(thread -> thread.injector).toList(), _ -> new long[] {Syscall.PRCTL, PR_GET_SECUREBITS});
        for (int i = 0; i < bits.length; i++) {
            threads.get(i).secureBits = (int) bits[i];
        }
    }

    /** The records, from what was read. */
    static List<Privileges> records(TracedProcess process) {
        List<Privileges> records = new ArrayList<>();
        for (TracedThread thread : process.threads) {
            if (thread.credentials != null) {
                records.add(credentials(process.namespacePid, thread));
            }
            if (thread.noNewPrivileges != null) {
                records.add(new Privileges.NoNewPrivileges(process.namespacePid, thread.namespaceTid, thread.noNewPrivileges));
            }
        }
        return records;
    }

    private static Privileges.Credentials credentials(int pid, TracedThread thread) {
        String status = thread.credentials;
        return new Privileges.Credentials(pid, thread.namespaceTid, numbers(status, "Uid:"), numbers(status, "Gid:"), numbers(status, "Groups:"), bits(status, "CapInh:"),
                bits(status, "CapPrm:"), bits(status, "CapEff:"), bits(status, "CapBnd:"), bits(status, "CapAmb:"), thread.secureBits);
    }

    private static int[] numbers(String status, String field) {
        return words(Proc.field(status, field)).mapToInt(Integer::parseUnsignedInt).toArray();
    }

    private static Stream<String> words(String text) {
        return Arrays.stream(text.split("\\s+")).filter(word -> !word.isEmpty());
    }

    private static long bits(String status, String field) {
        return Long.parseUnsignedLong(Proc.field(status, field), 16);
    }
}
