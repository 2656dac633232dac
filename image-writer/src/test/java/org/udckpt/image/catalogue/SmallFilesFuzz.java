package org.udckpt.image.catalogue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.directory.WriterLease;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.storage.LocalStorage;

/**
 * Files of a few words that a checkpoint's directory has beside the manifest, and that no seal covers: the first byte
 * says which.
 */
@Fuzzes({HostParts.class, WriterLease.class, VerifiedMark.class})
public final class SmallFilesFuzz {
    private static final Path DIRECTORY = directory();

    private SmallFilesFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        if (input.length == 0) {
            return;
        }
        byte[] content = Arrays.copyOfRange(input, 1, input.length);
        try {
            switch (input[0] % 3) {
                case 0 -> {
                    Files.write(DIRECTORY.resolve(ImageNames.PARTS), content);
                    HostParts.of(DIRECTORY, LocalStorage.INSTANCE).ifPresent(parts -> parts.part(3, 7));
                }
                case 1 -> {
                    Files.write(DIRECTORY.resolve(ImageNames.WRITER), content);
                    WriterLease.livenessOf(DIRECTORY, LocalStorage.INSTANCE);
                }
                default -> {
                    Files.write(DIRECTORY.resolve("verified"), content);
                    new VerifiedMark(LocalStorage.INSTANCE).read(DIRECTORY);
                }
            }
        } catch (ImageError e) {
            // as promised
        }
    }

    private static Path directory() {
        try {
            Path made = Files.createTempDirectory("small-files-fuzz");
            Files.writeString(made.resolve(ImageNames.MANIFEST), "a manifest\n");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(made)));
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void remove(Path directory) {
        for (String name : new String[]{ImageNames.MANIFEST, ImageNames.PARTS, ImageNames.WRITER, "verified"}) {
            directory.resolve(name).toFile().delete();
        }
        directory.toFile().delete();
    }
}
