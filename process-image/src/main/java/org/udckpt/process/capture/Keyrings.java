package org.udckpt.process.capture;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;

/**
 * Refuses keyrings (keyrings(7)) of a process's own: keys are the kernel's, some may not be read, and none can be put
 * back under its number. The session keyring of the launcher is there again after a restart, that of the restart.
 */
final class Keyrings {
    private static final int KEYCTL = 250, GET_KEYRING_ID = 0, DESCRIBE = 6, THREAD = -1, PROCESS = -2, SESSION = -3;
    private static final int LONGEST = 512;
    /** The kernel's own for a user without a session keyring. */
    private static final List<String> DEFAULTS = List.of("_uid_ses.", "_uid.");
    private static final long OWN_SESSION = Syscall.call(KEYCTL, GET_KEYRING_ID, SESSION, 0);

    private Keyrings() {}

    /**
     * What a snapshot, which has the process's, says of its session keyring. To be asked there, for looking may install
     * the user's default one.
     */
    record Session(SnapshotCalls calls, int id, int description, long text) {
        void refuseOther(TracedProcess process) {
            long own = calls.result(id);
            int length = (int) Math.min(LONGEST, calls.result(description));
            if (own <= 0 || own == OWN_SESSION || length <= 0) {
                // none, or keys are forbidden here (seccomp of containers)
                return;
            }
            // type;uid;gid;perm;description
            String[] fields = new String(calls.read(text, length), StandardCharsets.UTF_8).split("[;\0]");
            String name = fields[fields.length - 1];
            if (DEFAULTS.stream().noneMatch(name::startsWith)) {
                throw process.refuse("it has joined a session keyring of its own (" + name
                        + "; keyctl(2)), which cannot be checkpointed");
            }
        }
    }

    static Session ask(SnapshotCalls calls) {
        long text = calls.room(LONGEST);
        return new Session(calls, calls.add(KEYCTL, GET_KEYRING_ID, SESSION, 0),
                calls.add(KEYCTL, DESCRIBE, SESSION, text, LONGEST), text);
    }

    /**
     * Thread and process keyrings, which a fork does not inherit: by calls in all threads, where /proc/keys shows that
     * this user has such a keyring at all.
     */
    static void refuse(List<TracedProcess> processes) {
        String keys = OWN_SESSION > 0 ? keys() : "";
        if (keys.contains(" _tid: ")) {
            refuse(processes, THREAD, "thread");
        }
        if (keys.contains(" _pid: ")) {
            refuse(processes, PROCESS, "process");
        }
    }

    private static String keys() {
        try {
            return Proc.text("/proc/keys");
        } catch (LinuxError none) {
            return ""; // a kernel or a container without
        }
    }

    private static void refuse(List<TracedProcess> processes, int which, String what) {
        List<TracedThread> threads = new ArrayList<>();
        List<TracedProcess> owners = new ArrayList<>();
        for (TracedProcess process : processes) {
            for (TracedThread thread : process.threads) {
                threads.add(thread);
                owners.add(process);
            }
        }
        long[] ids = CallInAll.make(threads.stream().map(thread -> thread.injector).toList(),
                _ -> new long[]{KEYCTL, GET_KEYRING_ID, which, 0});
        for (int i = 0; i < ids.length; i++) {
            if (ids[i] > 0) {
                throw owners.get(i).refuse("thread " + threads.get(i).tid + " has a " + what
                        + " keyring (keyctl(2)), which cannot be checkpointed");
            }
        }
    }
}
