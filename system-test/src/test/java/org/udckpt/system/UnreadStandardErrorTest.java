package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job of two hosts whose standard error nobody reads, as below {@code 2>&1 | less}: what is said there is lost, and
 * nothing else.
 */
@Timeout(180)
class UnreadStandardErrorTest {
    /** More than a pipe holds. */
    private static final byte[] FILLING = "filling\n".repeat(32 << 10).getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path directory;
    private RandomAccessFile pipe;
    private LocalAgents job;

    /** Its pipe is full when both ranks run. */
    @BeforeEach
    void start() throws Exception {
        Path fifo = directory.resolve("fifo");
        assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
        pipe = new RandomAccessFile(fifo.toFile(), "rw"); // both ends: opening it waits for nobody
        job = new LocalAgents(directory, fifo.toFile());
        Thread.ofPlatform().daemon().start(() -> {
            try {
                pipe.write(FILLING);
            } catch (IOException e) {
                // the test has ended
            }
        });
        job.await(() -> !mayBeWritten(fifo));
    }

    /** Whether a pipe has room. */
    private static boolean mayBeWritten(Path fifo) throws Exception {
        return new ProcessBuilder("dd", "if=/dev/zero", "of=" + fifo, "oflag=nonblock,append", "conv=notrunc", "bs=1",
                "count=1").redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
    }

    /** The lead's port, of /proc/net/tcp and its descriptors. */
    private int port() throws IOException {
        Set<String> own = new HashSet<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/" + job.lead.pid() + "/fd"))) {
            for (Path descriptor : descriptors) {
                String target = Files.exists(descriptor, LinkOption.NOFOLLOW_LINKS)
                        ? Files.readSymbolicLink(descriptor).toString() : "";
                if (target.startsWith("socket:[")) {
                    own.add(target.substring("socket:[".length(), target.length() - 1));
                }
            }
        }
        for (String file : List.of("tcp", "tcp6")) {
            for (String line : Files.readAllLines(Path.of("/proc/net/" + file))) {
                String[] words = line.strip().split("\\s+");
                if (words[3].equals("0A") && own.contains(words[9])) { // TCP_LISTEN
                    return Integer.parseInt(words[1].substring(words[1].indexOf(':') + 1), 16);
                }
            }
        }
        throw new AssertionError("the lead listens nowhere");
    }

    private void strangers() throws Exception {
        int port = port();
        for (int i = 0; i < 3; i++) {
            try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
                stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                stranger.setSoTimeout(LocalAgents.SECONDS * 1000);
                stranger.getInputStream().readAllBytes(); // to its end: whoever is gone before he is accepted is nobody
            } catch (SocketException e) {
                // reset
            }
        }
        Thread.sleep(8000); // to when they are told of, and two leases
    }

    /** Reads from now on. */
    private StringBuffer reading() {
        StringBuffer all = new StringBuffer();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                byte[] some = new byte[64 << 10];
                for (int length = pipe.read(some); length > 0; length = pipe.read(some)) {
                    all.append(new String(some, 0, length, StandardCharsets.UTF_8));
                }
            } catch (IOException e) {
                // the test has ended
            }
        });
        return all;
    }

    @Tag("slow")
    @Test
    void strangersDoNotEndIt() throws Exception {
        strangers();
        assertTrue(job.lead.isAlive(), "the job has ended");
        job.finish();
        assertEquals(0, job.end());
    }

    @Tag("slow")
    @Test
    void whatWasSaidComesWhenItIsReadAgain() throws Exception {
        strangers();
        StringBuffer all = reading();
        job.await(() -> all.indexOf("udckpt: warning: refused 127.0.0.1: ") >= 0);
        job.finish();
        assertEquals(0, job.end());
    }

    @Tag("slow")
    @Test
    void aSignalEndsIt() throws Exception {
        strangers();
        job.lead.destroy();
        assertEquals(15, job.end()); // TERM, as under mpiexec
    }

    @AfterEach
    void end() throws Exception {
        if (job != null) {
            job.close();
        }
        pipe.close();
    }
}
