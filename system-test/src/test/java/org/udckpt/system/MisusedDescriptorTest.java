package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Programs that use what they were given, or what they open, in a way that udckpt cannot follow: named, and unhurt. */
@Timeout(120)
class MisusedDescriptorTest {

    /**
     * A device that the program opens by itself, as a verbs provider linked into it would; here it is the kernel's log.
     */
    @Test
    void aDeviceOpenedBehindTheLibrary() throws Exception {
        try (RunningJob job = RunningJob.script(
                "mknod uverbs7 c 1 11; mkfifo wait; exec 9<>uverbs7 || no=1; : >ready$no; : >ready; read line <wait; "
                        + "echo PASS")) {
            assumeTrue(Files.notExists(job.directory.resolve("ready1")), "device files cannot be made or opened here");
            for (int round = 0; round < 2; round++) {
                Failure refused = job.failingCheckpoint();
                assertEquals(ExitCode.UNSUPPORTED, refused.code(), refused.getMessage());
                assertTrue(refused.getMessage().contains("(sh), descriptor 9")
                        && refused.getMessage().contains("/uverbs7"), refused.getMessage());
                job.assertUnhurt(1);
                job.assertOnly();
            }
            Files.writeString(job.directory.resolve("wait"), "go on\n");
            job.assertEnds(0);
            assertEquals("PASS\n", job.output());
        }
    }

    @Test
    void anotherVersionOfPmi() throws Exception {
        pmi("echo cmd=init pmi_version=2 pmi_subversion=0 >&$PMI_FD; read answer <&$PMI_FD; echo $answer; exit 3", 3,
                "rc=-1", "rank 0 requested an unsupported operation: PMI version 2 (udckpt speaks PMI-1");
    }

    @Test
    void bytesThatAreNotPmi() throws Exception {
        pmi("echo hello world >&$PMI_FD; read answer <&$PMI_FD || exit 4; exit 5", 69, "",
                "PMI: rank 0: 'hello' is not");
    }

    /** The program takes the descriptor for its own file and never ends a line. */
    @Test
    void aLineWithoutAnEnd() throws Exception {
        pmi("head -c 1000000 /dev/zero >&$PMI_FD; read answer <&$PMI_FD || exit 4; exit 5", 69, "",
                "PMI: rank 0: a line longer than");
    }

    private static void pmi(String script, int code, String output, String error) throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        CommandLine commands = new CommandLine(directory);
        try {
            assertEquals(code,
                    commands.run("job", 60, "run", "-n", "1", "--name", "job", "--", "/bin/sh", "-c", script),
                    () -> text(commands));
            assertTrue(Files.readString(commands.output("job")).contains(output), () -> text(commands));
            assertTrue(Files.readString(directory.resolve("job.err")).contains(error), () -> text(commands));
            assertTrue(code != 69 || Files.readString(directory.resolve("job.err")).contains("does not speak PMI-1"),
                    () -> text(commands));
            assertTrue(RankProcesses.of(commands.runtime().resolve("job")).isEmpty());
        } finally {
            RankProcesses.kill(commands.runtime().resolve("job"));
        }
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }

    private static String text(CommandLine commands) {
        try {
            return commands.printed("job");
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }
}
