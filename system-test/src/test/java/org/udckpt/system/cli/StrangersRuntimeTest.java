package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.attack.OrdinaryUser;

/**
 * An ordinary user's job from run to restart while a stranger holds the name of the user's runtime directory, with a
 * job of his own making in it; under umasks that would take everything away, or nothing. Modes are what the code says.
 */
@Tag("slow")
@Timeout(180)
class StrangersRuntimeTest {
    private static final Path SHARED = Path.of("/dev/shm");
    private static final String NAME = "udckpt-" + OrdinaryUser.OWNER.uid();
    private static final String FORGED =
            "{\"name\":\"forged\\u001b]0;title\\u0007\",\"imageDirectory\":\"/\\u001b[2J\",\"ranks\":1,\"program\":[],"
                    + "\"agentPid\":1,\"agentStart\":1,"
                    + "\"shepherdPid\":0,\"shepherdStart\":0,\"generation\":0}";

    @TempDir
    Path temp;

    private static List<Path> places() throws Exception {
        try (Stream<Path> entries = Files.list(SHARED)) {
            return entries.filter(entry -> entry.getFileName().toString().startsWith(NAME)).toList();
        }
    }

    @BeforeEach
    void strangerHoldsTheName() throws Exception {
        OrdinaryUser.requireRoot();
        removePlaces();
        OrdinaryUser.OWNER.own(temp);
        Path held = Files.createDirectory(SHARED.resolve(NAME));
        Path job = Files.createDirectory(held.resolve("forged"));
        for (Path each : List.of(Files.writeString(job.resolve("job.json"), FORGED), job, held)) {
            OrdinaryUser.STRANGER.own(each);
        }
        Files.setPosixFilePermissions(held, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    @AfterEach
    void removePlaces() throws Exception {
        for (Path place : places()) {
            try (Stream<Path> all = Files.walk(place)) {
                all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
            }
        }
    }

    private static List<String> asOwner(String umask, String... arguments) {
        List<String> command = new ArrayList<>(
                List.of("env", "-u", "UDCKPT_RUNTIME", "/bin/sh", "-c", "umask " + umask + "; exec \"$@\"", "sh"));
        command.addAll(ScriptedJava.command(arguments[0]));
        command.add("org.udckpt.cli.Main");
        command.addAll(List.of(arguments));
        return OrdinaryUser.OWNER.command(command);
    }

    private static Udckpts.Running start(Udckpts udckpt, String umask, String... arguments) throws Exception {
        return udckpt.start(asOwner(umask, arguments), Map.of(), new File("/dev/null"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0777", "0"})
    void aJobRunsAsEver(String umask) throws Exception {
        Path images = temp.resolve("images");
        try (Udckpts udckpt = new Udckpts(temp)) {
            Udckpts.Running job = start(udckpt, umask, "run", "--name", "a", "--dir", images.toString(), "--",
                    "/bin/sh", "-c", "echo up; while :; do sleep 0.1; done");
            job.awaitOutput("up");
            Path place = places().stream().filter(each -> !each.endsWith(NAME)).findFirst().orElseThrow();
            assertTrue(job.text().contains("/dev/shm/" + NAME + " belongs to user " + OrdinaryUser.STRANGER.uid())
                    && job.text().contains("are in " + place), job.text());
            assertModes(place);
            takeDown(udckpt, umask, "a");
            assertModes(images);
            Udckpts.Running again = start(udckpt, umask, "restart", images.toString(), "--name", "b");
            again.await(() -> again.text().contains("the ranks run"));
            // by then its command socket, made when the ranks run, has its mode
            start(udckpt, umask, "status", "b").await(60);
            assertModes(place);
            takeDown(udckpt, umask, "b");
        }
    }

    private static void takeDown(Udckpts udckpt, String umask, String name) throws Exception {
        Udckpts.Result status = start(udckpt, umask, "status").await(60);
        assertEquals(0, status.code(), status.toString());
        assertTrue(status.output().contains(name + "  running"), status.toString());
        assertFalse(status.output().contains("forged") || status.toString().contains("\u001b"), status.toString());
        Udckpts.Result asked = start(udckpt, umask, "checkpoint", "forged").await(60);
        assertEquals(66, asked.code(), asked.toString());
        Udckpts.Result taken = start(udckpt, umask, "checkpoint", name, "--then", "kill").await(60);
        assertEquals(0, taken.code(), taken.toString());
    }

    /** Of directories, files and sockets alike: the owner's, and nobody else's. */
    private static void assertModes(Path place) throws Exception {
        try (Stream<Path> all = Files.walk(place)) {
            for (Path each : all.toList()) {
                String mode =
                        PosixFilePermissions.toString(Files.getPosixFilePermissions(each, LinkOption.NOFOLLOW_LINKS));
                assertEquals(Files.isDirectory(each) ? "rwx------" : "rw-------", mode, each.toString());
            }
        }
    }
}
