package org.udckpt.process.kinds.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxConstants;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Syscall;

/** Calls in the mount namespace of a user namespace, by a process that shares this one's memory. */
class MountThreadTest {
    static {
        MountThread.library(Path.of(System.getProperty("udckpt.native"), "libudckpt-agent.so"));
    }

    /** A container: it has a file that nobody else sees. */
    private static Process container() throws IOException {
        Process made = new ProcessBuilder("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                "mount -t tmpfs ours /mnt && echo text >/mnt/file && echo ready && exec sleep 60")
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        assertEquals("ready", made.inputReader().readLine());
        return made;
    }

    private static long dumpable() {
        return Syscall.call(Syscall.PRCTL, LinuxConstants.PR_GET_DUMPABLE);
    }

    @Test
    void seesTheMountsAndOpensFilesForThisProcess() throws Exception {
        Process made = container();
        try (MountThread thread = new MountThread((int) made.pid())) {
            assertTrue(thread.mounts().stream().anyMatch(line -> line.source().equals("ours")));
            Files.Stat inside = Files.tryStat(thread.root() + "/mnt/file");
            assertEquals(5, inside.size());
            assertFalse(java.nio.file.Files.exists(Path.of("/mnt/file")));
            int namespace = thread.namespace();
            assertEquals(Files.stat("/proc/" + made.pid() + "/ns/mnt").inode(), Files.stat(namespace).inode());
            Files.close(namespace);
            assertNotEquals(ProcessHandle.current().pid(), thread.call(Syscall.GETPID));
        } finally {
            made.destroyForcibly().waitFor();
        }
    }

    /** Who has all capabilities in the namespace would have this process's memory. */
    @Test
    void whoIsThereMayNotTraceIt() throws Exception {
        long before = dumpable();
        Process made = container();
        try (MountThread thread = new MountThread((int) made.pid()); MountThread second = new MountThread(thread)) {
            long caller = thread.call(Syscall.GETPID);
            assertEquals(0, dumpable());
            Process attacker = new ProcessBuilder(List.of("nsenter", "--user", "--preserve-credentials", "--target",
                    Long.toString(made.pid()), "sh", "-c", "exec 2>&1; grep CapEff /proc/self/status; "
                            + "head -c 1 /proc/" + caller + "/maps >/dev/null && echo reached"))
                    .start();
            String said = new String(attacker.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertFalse(said.contains("reached"), said);
            assertTrue(said.contains("ermission denied"), said);
            assertFalse(said.contains("0000000000000000"), "it has capabilities there: " + said);
            assertNotEquals(caller, second.call(Syscall.GETPID));
        } finally {
            made.destroyForcibly().waitFor();
        }
        assertEquals(before, dumpable());
    }
}
