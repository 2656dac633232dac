package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.udckpt.hosts.Host;
import org.udckpt.hosts.HostLab;

/**
 * Hosts by their addresses alone, and {@code --starter ssh}, with OpenSSH's client and a server of the test's own on
 * each host: {@code ./udckpt test ssh}, which installs them. The hosts are network namespaces; nothing of the user's or
 * the machine's own ssh is read or changed, and nothing of the environment comes to an agent but what the lead tells
 * it.
 */
@Timeout(300)
@EnabledIfSystemProperty(named = "udckpt.ssh", matches = "true", disabledReason = "./udckpt test ssh runs it")
class SshHostsTest {
    private static final int SECONDS = 120;
    private static final String[] PROGRAM = {"--", CommandLine.artifact("programs/stencil_cg").toString(), "--grid",
            "8", "--solves", "100", "--ballast", "2"};

    private static void run(Path directory, String... words) throws Exception {
        Process process = new ProcessBuilder(words).directory(directory.toFile()).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), said);
    }

    /** A client named ssh that has a key for these servers. */
    private static void client(SeveralHosts hosts, Path directory) throws Exception {
        run(directory, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key");
        run(directory, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "host");
        String known = Files.readString(directory.resolve("host.pub"));
        StringBuilder list = new StringBuilder();
        hosts.lab.hosts().forEach(host -> list.append(host.address()).append(' ').append(known));
        Files.writeString(directory.resolve("known"), list);
        Files.writeString(directory.resolve("config"),
                "IdentityFile %1$s/key\nIdentitiesOnly yes\nUserKnownHostsFile %1$s/known\n".formatted(directory));
        Path bin = Files.createDirectory(directory.resolve("bin"));
        Files.writeString(bin.resolve("ssh"),
                "#!/bin/sh\nexec /usr/bin/ssh -F " + directory.resolve("config") + " \"$@\"\n");
        Files.setPosixFilePermissions(bin.resolve("ssh"), PosixFilePermissions.fromString("rwx------"));
        hosts.environment.put("PATH", bin + ":" + System.getenv("PATH"));
    }

    private static void server(SeveralHosts hosts, Host host, Path directory) throws Exception {
        Path configuration = directory.resolve("sshd-" + host.number());
        Files.writeString(configuration, """
                ListenAddress %2$s
                HostKey %1$s/host
                AuthorizedKeysFile %1$s/key.pub
                StrictModes no
                UsePAM no
                PasswordAuthentication no
                PidFile none
                """.formatted(directory, host.address()));
        host.command("/usr/sbin/sshd", "-D", "-E", directory.resolve("sshd-" + host.number() + ".log").toString(), "-f",
                configuration.toString()).start();
        hosts.await("sshd on host " + host.number(), "none", () -> listens(host));
    }

    private static boolean listens(Host host) throws IOException {
        String line = ":0016 00000000:0000 0A";
        Process sockets = host.command("cat", "/proc/net/tcp").start();
        return new String(sockets.getInputStream().readAllBytes()).contains(line);
    }

    private static String[] words(String... options) {
        List<String> words = new ArrayList<>(List.of(options));
        words.addAll(List.of(PROGRAM));
        return words.toArray(String[]::new);
    }

    private static String addresses(SeveralHosts hosts, String ranks, int... numbers) {
        List<String> list = new ArrayList<>();
        for (int number : numbers) {
            list.add(hosts.lab.host(number).address() + ranks);
        }
        return String.join(",", list);
    }

    @Test
    void fourRanksOfTwoHostsGoOnOnTwoOthers() throws Exception {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
        assertTrue(Files.isExecutable(Path.of("/usr/sbin/sshd")), "openssh-server is not installed");
        boolean isOwn = !Files.isDirectory(Path.of("/run/sshd"));
        // in which sshd confines itself; a service manager makes it otherwise
        Files.createDirectories(Path.of("/run/sshd"));
        try (SeveralHosts hosts = new SeveralHosts(5)) {
            Path directory = Files.createDirectory(hosts.directory.resolve("ssh"));
            client(hosts, directory);
            for (int number = 2; number <= 5; number++) {
                server(hosts, hosts.lab.host(number), directory);
            }
            String images = hosts.directory.resolve("images").toString();
            assertEquals(0, hosts.end("alone", hosts.command("alone", words("run", "-n", "4")), SECONDS),
                    () -> hosts.text("alone"));
            List<String> whole = hosts.lines("alone");

            Process first = hosts.command("first",
                    words("run", "--hosts", addresses(hosts, ":2", 2, 3), "--name", "job", "--dir", images));
            hosts.await("the job's output", "first", () -> hosts.output("first").contains("iteration"));
            assertEquals(2, hosts.pids(2, "stencil_cg").size(), () -> hosts.text("first"));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("checkpoint") + hosts.text("first"));
            hosts.crash(2, 3);
            assertEquals(74, hosts.end("first", first, SECONDS), () -> hosts.text("first"));

            Process second = hosts.command("second", "restart", "--hosts", addresses(hosts, "", 4, 5), images);
            hosts.await("the job's output", "second", () -> hosts.output("second").contains("iteration"));
            assertEquals(2, hosts.pids(4, "stencil_cg").size(), () -> hosts.text("second"));
            hosts.assertEnds(0, "second", second, SECONDS);
            List<String> end = hosts.lines("second");
            assertEquals(whole.subList(whole.size() - end.size(), whole.size()), end);

            Process nobody = hosts.command("nobody", words("run", "--starter", "ssh", "--hosts",
                    addresses(hosts, ":1", 4, 2), "--start-timeout", "10s"));
            assertTrue(hosts.end("nobody", nobody, SECONDS) != 0, () -> hosts.text("nobody"));
            assertTrue(hosts.errors("nobody").contains(hosts.lab.host(2).address()),
                    () -> "the host without a server is named: " + hosts.text("nobody"));
            hosts.good();
        } finally {
            if (isOwn) {
                Files.deleteIfExists(Path.of("/run/sshd"));
            }
        }
    }
}
