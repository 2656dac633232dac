package org.udckpt.bench.application;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.udckpt.bench.job.Cell;

/**
 * Tells whether an undisturbed run was one of the same thing: of the same command with the same description and inputs.
 */
final class Fingerprint {
    private Fingerprint() {}

    static String of(Cell cell) throws IOException {
        MessageDigest digest = sha256();
        List<Path> files;
        try (Stream<Path> all = Files.list(cell.workload().directory())) {
            files = all.sorted().toList();
        }
        for (Path file : files) {
            digest.update((file.getFileName() + "\0" + Files.size(file) + "\0").getBytes(StandardCharsets.UTF_8));
            digest.update(Files.readAllBytes(file));
        }
        digest.update(String.join("\0", cell.words(Path.of("session"))).getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }
}
