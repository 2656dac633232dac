package org.udckpt.process.feature;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** What killed feature programs leave in the machine: named shared memory, queues, System V objects, by their pid. */
public final class Leftovers {
    /** The upper halves of the System V keys of all feature programs, the first of so many; the lower is the pid's. */
    private static final int KEY = 0x7564, KEYS = 3;
    private static final int PRIVATE = 0, GETPID = 11, SENDER = 6;

    /** posix_queues.c, ipc_namespaces.c. */
    private static final List<String> QUEUES = List.of("ordered", "again", "full", "quiet", "ping", "empty", "busy",
            "nothing", "single", "told", "closed", "namespace");

    private Leftovers() {}

    /** When all that was restored has ended. */
    static void removeSharedMemory(int pid) throws IOException {
        Files.deleteIfExists(Path.of("/dev/shm/udckpt-feature-" + pid));
        Files.deleteIfExists(Path.of("/dev/shm/udckpt-feature-gone-" + pid));
        Files.deleteIfExists(Path.of("/dev/shm/udckpt-feature-other-" + pid));
        Files.deleteIfExists(Path.of("/dev/shm/udckpt-feature-other-" + pid + "-2"));
    }

    /**
     * At once when the original has ended: its pid is another process's soon, and so are objects with that number. What
     * is restored has them in a namespace.
     */
    static void removeSystemV(int pid) throws IOException, InterruptedException {
        if (pid == 0) {
            return; // there was none; what nobody has used yet has this number
        }
        removeSystemV("shm", "-m", pid);
        removeSystemV("sem", "-s", pid);
        removeSystemV("msg", "-q", pid);
        removeQueues(pid);
    }

    /** POSIX message queues. */
    public static void removeQueues(int pid) {
        QUEUES.forEach(name -> Syscall.call(Syscall.MQ_UNLINK, Scratch.string("udckpt-feature-" + pid + "-" + name)));
    }

    /** /proc/sysvipc/KIND: key and id are the first two columns (proc_sysvipc(5)). */
    private static void removeSystemV(String kind, String option, int pid) throws IOException, InterruptedException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/sysvipc/" + kind))) {
            for (String line : lines.skip(1).toList()) {
                String[] columns = line.strip().split("\\s+");
                if (isOf(kind, columns, pid)) {
                    int code = new ProcessBuilder("ipcrm", option, columns[1]).inheritIO().start().waitFor();
                    if (code != 0) {
                        throw new IOException("ipcrm " + option + " " + columns[1] + " ended with " + code);
                    }
                }
            }
        }
    }

    /** By its key, or, of an object without one, as the last that has set the first semaphore or sent a message. */
    private static boolean isOf(String kind, String[] columns, int pid) {
        int key = Integer.parseInt(columns[0]);
        if (key != PRIVATE) {
            return key >>> 16 >= KEY && key >>> 16 < KEY + KEYS && (key & 0xffff) == (pid & 0xffff);
        }
        return switch (kind) {
            case "sem" -> Syscall.call(Syscall.SEMCTL, Integer.parseInt(columns[1]), 0, GETPID) == pid;
            case "msg" -> Integer.parseInt(columns[SENDER - 1]) == pid;
            default -> false; // segments without a key end with who has attached them
        };
    }
}
