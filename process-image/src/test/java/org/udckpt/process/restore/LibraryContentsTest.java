package org.udckpt.process.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.process.files.FileTorn;
import org.udckpt.process.identity.IdentityReader;
import org.udckpt.process.identity.KnownFiles;
import org.udckpt.process.identity.Libraries;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Region;
import org.udckpt.process.restore.RestoreException.Reason;

/** A library whose content is in the image, from its capture to the descriptor that a restart maps. */
class LibraryContentsTest {
    private static final long ID = 7;
    private static final String THEN = "the code of then", NOW = "the code of now!";

    @TempDir
    Path temporary;
    private Path file;
    private final List<String> warnings = new ArrayList<>();

    /** What was read of {@code source}, as an image has it. */
    private record Stored(long id, byte[] page) implements MemorySource {
        static Stored of(MemorySource source) {
            byte[] page = new byte[4096];
            MemorySegment read = Arena.ofAuto().allocate(page.length);
            source.read(0, read);
            MemorySegment.copy(read, 0, MemorySegment.ofArray(page), 0, page.length);
            return new Stored(source.id(), page);
        }

        static Stored of(String text) {
            byte[] page = new byte[4096];
            System.arraycopy(text.getBytes(StandardCharsets.UTF_8), 0, page, 0, text.length());
            return new Stored(ID, page);
        }

        @Override
        public boolean process() {
            return false;
        }

        @Override
        public long[] extents() {
            return new long[]{0, 4096};
        }

        @Override
        public void read(long offset, MemorySegment target) {
            MemorySegment.copy(MemorySegment.ofArray(page), offset, target, 0, target.byteSize());
        }
    }

    @BeforeEach
    void aLibrary() throws IOException {
        file = Files.writeString(temporary.toRealPath().resolve("lib.so"), THEN);
    }

    private Map<String, Long> inodes() {
        return Map.of(file.toString(), org.udckpt.linux.Files.stat(file.toString()).inode());
    }

    private JobImage image(InotifyWatch... watches) {
        Region region = new Region(1, 4096, 8192, "r-xp", 0, file.toString(), "rd mr", 0);
        MappedFile mapped = new MappedFile(ID, file.toString(), THEN.length(), 0);
        JobImage image = new JobImage(List.of(), List.of(), List.of(region), List.of(), List.of(mapped), List.of(),
                List.of(), null, null, List.of(), List.of(), List.of(watches), List.of(), List.of(), List.of(),
                List.of(), List.of());
        return image.identified(IdentityReader.read(image, inodes(), new KnownFiles()));
    }

    private void replace() throws IOException {
        Files.delete(file);
        Files.writeString(file, NOW);
    }

    private VerifiedFiles verified(JobImage image, MemorySource content) {
        return VerifiedFiles.of(image, SavedLibraries.of(image, List.of(content)), true, warnings::add);
    }

    private static String text(int fd) throws IOException {
        return Files.readString(Path.of("/proc/self/fd/" + fd));
    }

    @Test
    void whatWasSavedIsMappedWhereTheFileIsAnother() throws IOException {
        JobImage image = image();
        MemorySource content;
        try (Libraries libraries = Libraries.open(image, inodes())) {
            content = Stored.of(libraries.sources().getFirst());
            libraries.verify();
            assertEquals(List.of(), libraries.notes());
        }
        try (VerifiedFiles files = verified(image, content)) {
            assertEquals(THEN, text(files.mapped(file.toString())));
            assertEquals(List.of(), warnings);
        }
        replace();
        try (VerifiedFiles files = verified(image, content)) {
            int fd = files.mapped(file.toString());
            assertEquals(THEN, text(fd));
            assertEquals(0, org.udckpt.linux.Files.stat(fd).links());
            assertEquals(org.udckpt.linux.Files.stat(file.toString()).mode(), org.udckpt.linux.Files.stat(fd).mode());
        }
        assertEquals(1, warnings.size());
        assertTrue(
                warnings.getFirst().contains("is used for 1 file that the job maps, missing or changed here: " + file),
                warnings.getFirst());
        Files.delete(file);
        try (VerifiedFiles files = verified(image, content)) {
            assertEquals(THEN, text(files.mapped(file.toString())));
        }
    }

    /** A plan reads nothing. */
    @Test
    void aLookMapsNothing() throws IOException {
        JobImage image = image();
        replace();
        Restorer.checkPrograms(image, List.of(Stored.of(THEN)), warnings::add);
        assertEquals(1, warnings.size());
        assertEquals(Reason.FILE_CHANGED, assertThrows(RestoreException.class,
                () -> Restorer.checkPrograms(image, List.of(), warnings::add)).reason());
    }

    @Test
    void anotherContentThanTheDigestSaysIsRefused() throws IOException {
        JobImage image = image();
        replace();
        RestoreException refused = assertThrows(RestoreException.class, () -> verified(image, Stored.of(NOW)));
        assertEquals(Reason.FILE_CHANGED, refused.reason());
        assertTrue(refused.getMessage().contains("its content in the image is another"), refused.getMessage());
        assertNull(VerifiedFiles.NONE.mapped(file.toString()));
    }

    @Test
    void oneThatIsReplacedMeanwhileIsTorn() throws IOException {
        JobImage image = image();
        Map<String, Long> before = inodes();
        Files.move(file, file.resolveSibling("away"));
        Files.writeString(file, NOW);
        try (Libraries libraries = Libraries.open(image, before)) {
            FileTorn torn = assertThrows(FileTorn.class, libraries::verify);
            assertTrue(torn.savedInNextStop() && torn.getMessage().contains("was replaced"), torn.getMessage());
        }
    }

    @Test
    void oneThatIsWrittenMeanwhileIsTorn() throws IOException {
        JobImage image = image();
        try (Libraries libraries = Libraries.open(image, inodes())) {
            Files.writeString(file, NOW + " and more");
            assertTrue(assertThrows(FileTorn.class, libraries::verify).getMessage().contains("was written to"));
        }
    }

    /** The job would feel that it is read. */
    @Test
    void oneThatTheJobWatchesIsLeftOut() throws IOException {
        JobImage image = image(new InotifyWatch(1, 1, file.toString(), 0xfff));
        try (Libraries libraries = Libraries.open(image, inodes())) {
            assertEquals(List.of(), libraries.sources());
            assertTrue(libraries.notes().getFirst().contains("inotify"), libraries.notes().getFirst());
        }
    }
}
