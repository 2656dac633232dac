package org.udckpt.attack;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A user of this host without any rights over others: a number, no account. Tests of attacks run the owner of a job as
 * one, or as root, and the attacker as another. Only root can start them.
 */
public record OrdinaryUser(int uid) {
    /** The owner of a job that is not root's. */
    public static final OrdinaryUser OWNER = new OrdinaryUser(61001);
    /** The attacker. */
    public static final OrdinaryUser STRANGER = new OrdinaryUser(61002);

    /** Skips the test where this process is not root. */
    public static void requireRoot() throws IOException {
        assumeTrue((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0,
                "only root can start a program as another user");
    }

    /** {@code command} with this user's rights and nothing else: no group of root's, no capability, none to be had. */
    public List<String> command(List<String> command) {
        List<String> all =
                new ArrayList<>(List.of("setpriv", "--reuid", "" + uid, "--regid", "" + uid, "--clear-groups",
                        "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "env", "HOME=/nonexistent",
                        "XDG_RUNTIME_DIR="));
        all.addAll(command);
        return all;
    }

    /** Starts it; whoever does so ends it. */
    public Process start(String... command) throws IOException {
        return new ProcessBuilder(command(List.of(command))).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Runs it to its end, within a minute, and tells its exit code. */
    public int run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command(List.of(command))).inheritIO().start();
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                throw new AssertionError("still running after a minute: " + List.of(command));
            }
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    /** Makes this user the owner of a file or directory. */
    public Path own(Path path) throws IOException {
        Files.setAttribute(path, "unix:uid", uid);
        Files.setAttribute(path, "unix:gid", uid);
        return path;
    }

    /**
     * A copy of a program of {@code native/target/cmake/attacks} where every user can run it: a checkout may lie below
     * a private directory.
     */
    public static Path program(String name, Path directory) throws IOException {
        Path copy = directory.resolve(name);
        if (!Files.exists(copy)) {
            Files.copy(Path.of(System.getProperty("udckpt.native"), "attacks", name), copy);
            Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        return copy;
    }
}
