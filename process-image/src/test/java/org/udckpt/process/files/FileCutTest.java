package org.udckpt.process.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobFile.Cut;

/**
 * The saved content is the content at the stop, whatever happens to the files while they are saved; or the files are
 * refused by name.
 */
@Timeout(300)
class FileCutTest {
    private static final int BIG = 3 << 20;
    private static final long LITTLE = 1 << 20;

    @TempDir
    Path directory;

    /** {@link ReflinkTest} has those. */
    @BeforeEach
    void withoutReflinks() throws IOException {
        Path file = file("probe", 10);
        int fd = org.udckpt.linux.Files.open(file.toString(), Syscall.O_RDONLY);
        int clone = FileCopies.tryClone(fd, file.toString());
        org.udckpt.linux.Files.close(fd);
        Files.delete(file);
        assumeTrue(clone < 0, "the temporary directory is on a file system with reflinks");
    }

    @Test
    void whatIsCopiedInTheStopMayChangeAtOnce() throws Exception {
        Path file = file("scratch", BIG);
        byte[] then = Files.readAllBytes(file);
        SavedFiles saved =
                SavedFiles.of(SavedFiles.OPEN, SavedFiles.open(file, Syscall.O_RDWR), () -> overwrite(file, 5000));
        assertEquals(Cut.COPIED, saved.cut(file));
        saved.restore(true);
        assertTrue(Arrays.equals(then, Files.readAllBytes(file)));
    }

    @Test
    void aLargeFileThatIsLeftAloneIsReadLater() throws Exception {
        Path file = file("scratch", BIG);
        SavedFiles saved = SavedFiles.of(SavedFiles.named(LITTLE), SavedFiles.open(file, Syscall.O_RDWR), () -> {});
        assertEquals(Cut.UNCHANGED, saved.cut(file));
    }

    /** Written in the very tick of the clock in which the stop ended: still seen. */
    @Test
    void aTornFileIsNeverSaved() throws Exception {
        for (int i = 0; i < 50; i++) {
            Path file = file("scratch" + i, BIG);
            FileRequest request = SavedFiles.named(LITTLE);
            FileTorn torn = assertThrows(FileTorn.class, () -> SavedFiles.of(request,
                    SavedFiles.open(file, Syscall.O_RDWR), () -> overwrite(file, 2_000_000)));
            assertTrue(torn.getMessage().contains(file.toString()) && torn.getMessage().contains("--files-in-stop")
                    && torn.getMessage().contains("Btrfs"), torn.getMessage());
            assertFalse(torn.savedInNextStop());
            Files.delete(file);
        }
    }

    /** It was quiet for so long that nobody thought it would change; the next stop copies it. */
    @Test
    void aQuietFileThatWakesUpIsCopiedNextTime() throws Exception {
        Path file = file("restart", 100_000);
        FileRequest request = SavedFiles.named(directory.toString());
        Thread.sleep(3_200); // Candidate.QUIET_NS: st_ctime cannot be set back
        byte[] then = Files.readAllBytes(file);
        FileTorn torn =
                assertThrows(FileTorn.class, () -> SavedFiles.of(request, cut -> {}, () -> overwrite(file, 10)));
        assertTrue(torn.savedInNextStop(), torn.getMessage());
        byte[] now = Files.readAllBytes(file);
        SavedFiles saved = SavedFiles.of(request, cut -> {}, () -> overwrite(file, 20));
        assertEquals(Cut.COPIED, saved.cut(file));
        saved.restore(true);
        assertTrue(Arrays.equals(now, Files.readAllBytes(file)) && !Arrays.equals(then, now));
    }

    @Test
    void aLogOnlyGrows() throws Exception {
        Path log = file("log", BIG);
        byte[] then = Files.readAllBytes(log);
        SavedFiles saved = SavedFiles.of(SavedFiles.named(LITTLE),
                SavedFiles.open(log, Syscall.O_WRONLY | Syscall.O_APPEND), () -> append(log, "from the future"));
        assertEquals(Cut.APPENDED, saved.cut(log));
        List<RolledBack> report = saved.restore(true);
        assertTrue(Arrays.equals(then, Files.readAllBytes(log)));
        assertEquals(List.of(RolledBack.What.REPLACED), report.stream().map(RolledBack::what).toList());
        assertTrue(Files.readString(Path.of(report.getFirst().kept()), java.nio.charset.StandardCharsets.ISO_8859_1)
                .endsWith("from the future"));
        FileRequest little = SavedFiles.named(LITTLE);
        assertThrows(FileTorn.class, () -> SavedFiles.of(little,
                SavedFiles.open(log, Syscall.O_WRONLY | Syscall.O_APPEND), () -> cut(log, 5)),
                "a log that was rotated by truncation");
    }

    /** Not opened for appending, as by Fortran and C++: what lies below was read before the stop, too. */
    @Test
    void aTrajectoryThatGrowsWhileItIsSaved() throws Exception {
        Path file = file("trajectory", 6 << 20);
        FileRequest request = SavedFiles.named(3 << 20);
        Prefixes before = new Prefixes(request);
        int opened = org.udckpt.linux.Files.open(file.toString(), Syscall.O_RDWR);
        before.consider("/proc/self/fd/" + opened, new QuietFiles(new FileObservers(FileLeases.now())));
        org.udckpt.linux.Files.close(opened);
        append(file, "written between the look and the stop");
        byte[] then = Files.readAllBytes(file);
        SavedFiles saved = SavedFiles.of(request, before, SavedFiles.open(file, Syscall.O_RDWR), () -> {
            append(file, "the future");
            overwrite(file, 8); // the number of records, which is in the part that is copied in the stop
        });
        assertEquals(Cut.GROWN, saved.cut(file));
        saved.restore(false);
        assertTrue(Arrays.equals(then, Files.readAllBytes(file)));
        assertThrows(FileTorn.class, () -> SavedFiles.of(request, before, SavedFiles.open(file, Syscall.O_RDWR),
                () -> overwrite(file, 2_500_000)));
    }

    /** Another one takes its name: what was open at the stop is still to be had. */
    @Test
    void aRestartFileThatIsReplacedByRename() throws Exception {
        Path file = file("restart", BIG);
        byte[] then = Files.readAllBytes(file);
        SavedFiles saved = SavedFiles.of(SavedFiles.named(LITTLE, directory.toString()), cut -> {}, () -> {
            try {
                Files.move(file("restart.new", 77), file, StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        assertEquals(Cut.UNCHANGED, saved.cut(file));
        saved.restore(false);
        assertTrue(Arrays.equals(then, Files.readAllBytes(file)));
    }

    @Test
    void refusedByName() throws Exception {
        Path mapped = file("mapped", BIG);
        long inode = org.udckpt.linux.Files.stat(mapped.toString()).inode();
        FileRequest little = SavedFiles.named(LITTLE);
        refused("mapped shared",
                () -> SavedFiles.of(little, cut -> assertTrue(cut.mapped(mapped.toString(), inode, 100)), () -> {}));
        FileRequest limited = new FileRequest(List.of(PathPattern.of(directory.toString())), List.of(), List.of(),
                java.util.Set.of(), 0, BIG - 1, new HotFiles(), false);
        refused("--files-limit: " + mapped, () -> SavedFiles.of(limited, cut -> {}, () -> {}));
    }

    private static void refused(String words, org.junit.jupiter.api.function.Executable executable) {
        FilesRefused refused = assertThrows(FilesRefused.class, executable);
        assertTrue(refused.getMessage().contains(words), refused.getMessage());
    }

    @Test
    void whatIsNoFileIsNamedAndLeftOut() throws Exception {
        assertEquals(0, new ProcessBuilder("mkfifo", directory.resolve("pipe").toString()).start().waitFor());
        file("excepted", 10);
        file("ckpt/manifest", 10);
        file("another-job/ckpt-0001/manifest", 10);
        file("another-job/sequence", 10);
        file("old.udckpt-rolled-back-ckpt-0001", 10);
        FileRequest request = new FileRequest(List.of(PathPattern.of(directory.toString())),
                List.of(PathPattern.of(directory + "/ex*")), List.of(directory + "/ckpt"), java.util.Set.of(),
                LITTLE, LITTLE, new HotFiles(), false);
        SavedFiles saved = SavedFiles.of(request, cut -> {}, () -> {});
        assertEquals(List.of(), saved.rows().stream().filter(JobFile.RegularFile.class::isInstance).toList());
        assertTrue(
                saved.rows().stream()
                        .anyMatch(row -> row instanceof JobFile.LeftOut out && out.path().endsWith("/pipe")),
                saved.rows().toString());
    }

    private Path file(String name, int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(name.hashCode()).nextBytes(bytes);
        Files.createDirectories(directory.resolve(name).getParent());
        return Files.write(directory.resolve(name), bytes);
    }

    private static void overwrite(Path file, long offset) {
        change(file, channel -> channel.write(ByteBuffer.wrap(Instant.now().toString().getBytes()), offset));
    }

    private static void append(Path file, String text) {
        change(file, channel -> channel.write(ByteBuffer.wrap(text.getBytes()), channel.size()));
    }

    private static void cut(Path file, long size) {
        change(file, channel -> channel.truncate(size));
    }

    private interface Change {
        void to(FileChannel channel) throws IOException;
    }

    private static void change(Path file, Change change) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            change.to(channel);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
