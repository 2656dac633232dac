package org.udckpt.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Each unix connection that the sources make or take is checked for whose the other end is: {@code UnixPeer},
 * unix_peer.h.
 */
class SocketSourcesTest {
    private static final Path ROOT = Path.of(System.getProperty("udckpt.root"));
    private static final List<String> MODULES =
            List.of("linux", "native", "address-map", "ud-virt", "rc-virt", "image-writer", "process-image",
                    "support", "coordination", "transport", "launch", "cluster", "agent", "store", "inspect",
                    "lifecycle", "cli", "bench");
    /** accept() without arguments is a socket's; other methods of that name take what is accepted. */
    private static final Pattern JAVA =
            Pattern.compile("\\.accept\\(\\)|(?<!Server)SocketChannel\\.open\\(StandardProtocolFamily\\.UNIX\\)");
    private static final Pattern C = Pattern.compile("\\b(accept4?|connect)\\s*\\((?!struct|int|void)");
    private static final int NEAR = 400;

    private static List<Path> sources(String kind, String suffix) throws IOException {
        List<Path> found = new ArrayList<>();
        for (String module : MODULES) {
            Path directory = ROOT.resolve(module).resolve("src/main/" + kind);
            if (Files.isDirectory(directory)) {
                try (Stream<Path> files = Files.walk(directory)) {
                    files.filter(file -> file.toString().endsWith(suffix)).forEach(found::add);
                }
            }
        }
        assertTrue(found.size() > 30, found + " are all sources in " + kind);
        return found;
    }

    private static List<String> unchecked(List<Path> files, Pattern call, String check) throws IOException {
        List<String> unchecked = new ArrayList<>();
        int checked = 0;
        for (Path file : files) {
            String text = Files.readString(file);
            for (Matcher at = call.matcher(text); at.find();) {
                String near = text.substring(at.start(), Math.min(text.length(), at.start() + NEAR));
                checked++;
                if (!near.contains(check)) {
                    unchecked.add(ROOT.relativize(file) + ": " + near.lines().findFirst().orElseThrow());
                }
            }
        }
        assertTrue(checked > 0, call + " is what the sources say");
        return unchecked;
    }

    @Test
    void java() throws Exception {
        List<Path> files = sources("java", ".java");
        assertEquals(List.of(), unchecked(files, JAVA, "checked("));
    }

    /** Of files that know unix sockets; others connect over networks. */
    @Test
    void c() throws Exception {
        List<Path> files = new ArrayList<>();
        for (Path file : sources("c", ".c")) {
            if (Files.readString(file).contains("<sys/un.h>")) {
                files.add(file);
            }
        }
        assertTrue(files.size() >= 3, files + " know unix sockets");
        assertEquals(List.of(), unchecked(files, C, "unix_peer_check("));
    }
}
