package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.hosts.HostLab;

/** A job whose agents come to the hosts by an MPI library's own launcher, which gets there by its remote shell. */
@Tag("slow")
@Timeout(300)
class MpiexecHostsTest {
    private static final int SECONDS = 120;
    private static final List<String> PROGRAM = List.of("--", CommandLine.artifact("programs/stencil_cg").toString(),
            "--grid", "8", "--solves", "150", "--ballast", "2");
    /** What ssh is to real hosts: options, the host, a command for its shell. */
    private static final String SHELL =
            "#!/bin/sh\nwhile case \"$1\" in -*) true ;; *) false ;; esac; do shift; done\nhost=$1\nshift\nexec ip "
                    + "netns exec \"$host\" /bin/sh -c \"$*\"\n";

    @BeforeEach
    void possible() {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"mpiexec.hydra", "mpirun.openmpi"})
    void aJobOnHostsOfMpiexec(String mpiexec) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin", mpiexec)), () -> mpiexec + " is not installed");
        try (SeveralHosts hosts = new SeveralHosts(5)) {
            Path shell = Files.writeString(hosts.directory.resolve("shell"), SHELL);
            Files.setPosixFilePermissions(shell, PosixFilePermissions.fromString("rwx------"));
            hosts.environment.put("HYDRA_LAUNCHER", "ssh");
            hosts.environment.put("HYDRA_LAUNCHER_EXEC", shell.toString());
            hosts.environment.put("HYDRA_IFACE", "eth0"); // the name of this machine is no host's
            hosts.environment.put("OMPI_MCA_plm_rsh_agent", shell.toString());
            hosts.environment.put("OMPI_ALLOW_RUN_AS_ROOT", "1");
            hosts.environment.put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            String images = hosts.directory.resolve("images").toString();
            assertEquals(0, hosts.end("alone", hosts.command("alone", words(List.of("run", "-n", "4"))), SECONDS),
                    () -> hosts.text("alone"));
            List<String> whole = hosts.lines("alone");

            Process first = started(hosts, "first", mpiexec,
                    words(List.of("run", "--name", "job", "--dir", images, "--hosts", hosts.hosts(2, 2, 3))));
            hosts.await("the job's output", "first", () -> hosts.output("first").contains("iteration"));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job", "--then", "kill"),
                    () -> hosts.text("checkpoint") + hosts.text("first"));
            hosts.assertEnds(0, "first", first, SECONDS);

            Process second = started(hosts, "second", mpiexec, "restart", "--hosts", hosts.hosts(0, 4, 5), images);
            hosts.await("the job's output", "second", () -> hosts.output("second").contains("iteration"));
            for (int number : new int[]{4, 5}) {
                assertTrue(hosts.programs(number).contains("stencil_cg"), hosts.programs(number).toString());
            }
            hosts.assertEnds(0, "second", second, SECONDS);
            List<String> end = hosts.lines("second").stream()
                    .filter(line -> line.startsWith("solve") || line.startsWith("checksum")).toList();
            assertTrue(end.getLast().startsWith("checksum"), () -> hosts.text("second"));
            assertEquals(whole.subList(whole.size() - end.size(), whole.size()), end);
            for (int number : new int[]{2, 3, 4, 5}) {
                assertTrue(hosts.programs(number).isEmpty(), hosts.programs(number).toString());
            }
            hosts.good();
        }
    }

    private static Process started(SeveralHosts hosts, String name, String mpiexec, String... arguments)
            throws Exception {
        List<String> words = new ArrayList<>(
                List.of(arguments[0], "--starter", mpiexec, "--lead-address", hosts.lab.host(1).address()));
        words.addAll(List.of(arguments).subList(1, arguments.length));
        return hosts.command(name, words.toArray(String[]::new));
    }

    private static String[] words(List<String> options) {
        List<String> words = new ArrayList<>(options);
        words.addAll(PROGRAM);
        return words.toArray(String[]::new);
    }
}
