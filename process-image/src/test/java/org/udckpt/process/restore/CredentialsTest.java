package org.udckpt.process.restore;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.Privileges;
import org.udckpt.process.model.ProcessState;

/**
 * Users that may restore an image with other users and capabilities. The feature program credentials shows that these
 * come back.
 */
class CredentialsTest {
    private static final int PID = 5000, SETRESUID = 117, SOMEBODY = 65534;
    private static final long NOBODYS = 1L << 63;

    private static Owners owners(JobImage image) {
        return new Owners(image, process -> "process " + process.pid() + " (" + process.name() + ")");
    }

    private static JobImage image(Privileges... privileges) {
        ProcessState worker = new ProcessState(PID, 0, PID, PID, 0, "/bin/true", "/", 022, "worker", new byte[16],
                new long[11], new byte[65 * 32], new byte[0], new long[6], new long[32], 0, 0,
                true, false, false, new int[0], new long[0], false, 50_000, false, "", 0, 0, 0);
        return new JobImage(List.of(worker), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), null,
                null, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(),
                List.of(privileges), List.of());
    }

    private static Privileges.Credentials of(int user, long permitted) {
        int[] ids = {user, user, user, user};
        return new Privileges.Credentials(PID, PID, ids, ids, new int[0], 0, permitted, 0, 0, 0, 0);
    }

    @Test
    void rootMayMakeAnybody() {
        assumeTrue(Syscall.call(107 /* geteuid */) == 0, "not root");
        JobImage image = image(of(33, 0), new Privileges.NoNewPrivileges(PID, PID, true));
        assertDoesNotThrow(() -> Credentials.check(image, owners(image)));
    }

    /** Also not one that was root's: least of all that. */
    @Test
    void anOrdinaryUserMayMakeNobodyElse() throws Exception {
        for (int user : new int[]{33, 0, SOMEBODY}) {
            JobImage image = image(of(user, 0));
            RestoreException refused = asSomebody(
                    () -> assertThrows(RestoreException.class, () -> Credentials.check(image, owners(image))));
            assertEquals(RestoreException.Reason.UNSUPPORTED, refused.reason());
            assertTrue(refused.getMessage().startsWith("process 5000 (worker): it ran as user " + user),
                    refused.getMessage());
        }
        JobImage own = image(new Privileges.NoNewPrivileges(PID, PID, true));
        asSomebody(() -> assertDoesNotThrow(() -> {
            Credentials.check(own, owners(own));
            return null;
        }));
    }

    @Test
    void capabilitiesThatRootHereLacksAreNamed() {
        assumeTrue(Syscall.call(107 /* geteuid */) == 0, "not root");
        JobImage image = image(of(0, NOBODYS));
        RestoreException refused = assertThrows(RestoreException.class, () -> Credentials.check(image, owners(image)));
        assertTrue(refused.getMessage().contains("it had the capabilities 63 "), refused.getMessage());
    }

    private interface Body<T> {
        T run();
    }

    /** In a thread of its own: the system call changes the user of that alone (credentials(7)). */
    private static <T> T asSomebody(Body<T> body) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            if (Syscall.call(107 /* geteuid */) == 0) {
                LinuxError.check(Syscall.call(SETRESUID, -1, SOMEBODY, -1), "setresuid");
            }
            try {
                result.complete(body.run());
            } catch (Throwable failure) {
                result.completeExceptionally(failure);
            }
        }).join();
        return result.get();
    }
}
