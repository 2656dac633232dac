package org.udckpt.transport;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.udckpt.hosts.Host;

/** A {@link LinkPeer} on a host, from outside. */
final class PeerProcess implements AutoCloseable {
    private static final int PORT = 7077, SECONDS = 60;

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    PeerProcess(Host host, JobCredential credential) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(System.getProperty("java.home") + "/bin/java", "--enable-native-access=ALL-UNNAMED",
                        "--add-opens=java.base/java.nio=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                        System.getProperty("java.class.path"), LinkPeer.class.getName(),
                        Integer.toString(host.number()), host.address(), Integer.toString(PORT)));
        process = host.command(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        CredentialFile.write(process.getOutputStream(), credential);
        Thread.ofVirtual().start(this::read);
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            out.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            lines.add("cannot be read: " + e.getMessage());
        }
    }

    void say(String line) throws IOException {
        process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    /** Its next line. */
    String next() throws InterruptedException {
        String line = lines.poll(SECONDS, TimeUnit.SECONDS);
        assertNotNull(line, "the node says nothing");
        return line;
    }

    boolean isSilent() {
        return lines.isEmpty();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
