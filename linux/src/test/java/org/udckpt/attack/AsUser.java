package org.udckpt.attack;

import java.lang.foreign.Arena;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * Work of this process with another user's rights: on a thread of its own, which has that user's ids and groups, as the
 * threads that it starts have. The kernel keeps them for each thread (credentials(7)); only the C library makes them
 * the process's.
 */
public final class AsUser {
    private static final int SETGROUPS = 116, SETRESUID = 117, SETRESGID = 119;

    private AsUser() {}

    /** @param uid also of the group; 0: as this process is */
    public static <T> T call(int uid, Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(() -> {
            become(uid);
            return work.call();
        });
        Thread.ofPlatform().name("user-" + uid).start(task);
        try {
            return task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw new AssertionError(e.getCause());
        }
    }

    private static void become(int uid) {
        if (uid == 0) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            LinuxError.check(Syscall.call(SETGROUPS, 0, arena.allocate(8).address()), "setgroups");
            LinuxError.check(Syscall.call(SETRESGID, uid, uid, uid), "setresgid");
            LinuxError.check(Syscall.call(SETRESUID, uid, uid, uid), "setresuid");
        }
    }
}
