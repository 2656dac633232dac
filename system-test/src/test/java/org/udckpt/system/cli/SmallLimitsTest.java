package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.image.storage.Errno;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * The udckpt script under limits in which a JVM would leave a stack trace, or not even that: one line, with the limit
 * and what is needed.
 */
@Timeout(300)
class SmallLimitsTest {
    private static final int EFBIG = 27;
    private static final String SCRIPT = Path.of(System.getProperty("udckpt.root"), "udckpt").toString();
    private static final String[] VERBS =
            {"run -- true", "restart .", "status", "checkpoint job", "list .", "inspect .", "agent", "--help"};

    @TempDir
    Path temp;

    private Udckpts.Result after(Udckpts udckpt, String shell, String words) throws Exception {
        List<String> command = List.of("bash", "-c", shell + "; exec " + SCRIPT + " " + words);
        return udckpt.start(command, Map.of("UDCKPT_NO_BUILD", "1"), new File("/dev/null")).await(60);
    }

    private static void assertOneLine(Udckpts.Result result, String... parts) {
        assertEquals(69, result.code(), result.toString());
        assertEquals(1, result.errors().lines().filter(line -> !line.startsWith("shell-init: ")).count(),
                result.toString()); // bash's own
        for (String part : parts) {
            assertTrue(result.errors().contains(part), result.toString());
        }
        assertEquals("", result.output());
    }

    @ParameterizedTest
    @CsvSource({"ulimit -n 64, ulimit -n is 64, at least 256", "ulimit -v 3000000, ulimit -v is 3000000, at least ",
            "ulimit -f 100, ulimit -f is 100, at least 65536"})
    void eachVerbNamesTheLimit(String limit, String named, String needed) throws Exception {
        try (Udckpts udckpt = new Udckpts(temp)) {
            for (String verb : VERBS) {
                assertOneLine(after(udckpt, limit, verb), named, needed);
            }
        }
    }

    /** The limits that messages call sufficient are sufficient. */
    @Tag("slow")
    @Test
    void whatIsNeededIsEnough() throws Exception {
        try (Udckpts udckpt = new Udckpts(temp)) {
            String needed =
                    after(udckpt, "ulimit -v 3000000", "status").errors().replaceAll("(?s).*at least (\\d+).*", "$1");
            for (String limit : List.of("ulimit -n 256", "ulimit -v " + needed, "ulimit -f 65536",
                    "ulimit -s unlimited", "unset HOME", "ulimit -l 0", "ulimit -c 0")) {
                Udckpts.Result result = after(udckpt, limit, "run -n 2 --dir " + temp.resolve("images") + " -- true");
                assertEquals(0, result.code(), limit + ": " + result);
            }
        }
    }

    @Test
    void anOrdinaryUsersThreads() throws Exception {
        OrdinaryUser.requireRoot();
        OrdinaryUser.OWNER.own(temp);
        try (Udckpts udckpt = new Udckpts(temp)) {
            for (String verb : VERBS) {
                List<String> command = new ArrayList<>(
                        OrdinaryUser.OWNER.command(List.of("bash", "-c", "ulimit -u 20; exec " + SCRIPT + " " + verb)));
                assertOneLine(udckpt.start(command, Map.of("UDCKPT_NO_BUILD", "1"), new File("/dev/null")).await(60),
                        "ulimit -u is 20", "at least ");
            }
        }
    }

    @Test
    void aWorkingDirectoryThatHasNoName() throws Exception {
        try (Udckpts udckpt = new Udckpts(temp)) {
            for (String verb : VERBS) {
                assertOneLine(after(udckpt, "mkdir gone; cd gone; rmdir ../gone", verb),
                        "the working directory was deleted: go to another one");
            }
            Udckpts.Result deep =
                    after(udckpt, "d=$(printf d%.0s {1..200}); for i in {1..25}; do mkdir $d; cd $d; done", "status");
            assertEquals(0, new ProcessBuilder("rm", "-rf", temp.resolve("d".repeat(200)).toString()).inheritIO()
                    .start().waitFor()); // no path of the JDK's leads there
            assertOneLine(deep, "the working directory has a name of ", "the most are 4095");
        }
    }

    @Test
    void theAgentOfManyRanksSaysHowManyFiles() throws Exception {
        try (Udckpts udckpt = new Udckpts(temp)) {
            Udckpts.Result result =
                    after(udckpt, "ulimit -n 300", "run -n 30 --dir " + temp.resolve("images") + " -- true");
            assertOneLine(result, "ulimit -n is 300", "the agent of 30 ranks needs at least 400");
            try (var left = Files.list(udckpt.runtime())) {
                assertEquals(List.of(), left.toList());
            }
        }
    }

    /** Later than the script looks: other programs of the user have started since. */
    @Test
    void aThreadThatIsNotToBeHadIsNoStackTrace() {
        Failure failure = Failure.of("checkpoint", new OutOfMemoryError(
                "unable to create native thread: possibly out of memory or process/resource limits reached"));
        assertEquals(ExitCode.UNSUPPORTED, failure.code());
        assertTrue(failure.getMessage().contains("'ulimit -u' is "), failure.getMessage());
        assertTrue(Failure.of("x", new OutOfMemoryError("Java heap space")).getMessage().contains("'ulimit -v' is "));
        assertTrue(
                Failure.of("x", new java.io.IOException(Errno.text(EFBIG))).getMessage().contains("'ulimit -f' is "));
    }
}
