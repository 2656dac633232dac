package org.udckpt.process.restore;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.process.identity.IdentityReader;
import org.udckpt.process.identity.KnownFiles;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.Region;
import org.udckpt.process.restore.RestoreException.Reason;

/**
 * Which files a restart takes for those of the checkpoint, and what it says of the others. Most of it needs root, who
 * can give files away.
 */
class VerifiedFilesTest {
    private static final String MAPPED = "r-xp", SHARED = "r--s";

    @TempDir
    Path temporary;
    private Path directory;
    private Path file;
    private final KnownFiles known = new KnownFiles();
    private final List<String> warnings = new ArrayList<>();

    @BeforeEach
    void aLibrary() throws IOException {
        OrdinaryUser.requireRoot();
        directory = Files.createDirectory(temporary.toRealPath().resolve("d"));
        mode(directory, "rwxr-xr-x");
        file = write(directory.resolve("lib.so"), "the code of then");
    }

    private static Path write(Path path, String text) throws IOException {
        Files.writeString(path, text);
        mode(path, "rw-r--r--");
        return path;
    }

    private static void mode(Path path, String mode) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }

    private static void stranger(Path path) throws IOException {
        Files.setAttribute(path, "unix:uid", OrdinaryUser.STRANGER.uid(), LinkOption.NOFOLLOW_LINKS);
    }

    private JobImage image(String permissions, InotifyWatch... watches) {
        Region region = new Region(1, 4096, 8192, permissions, 0, file.toString(), "rd mr", 0);
        return identified(new JobImage(List.of(), List.of(), List.of(region), List.of(), List.of(), List.of(),
                List.of(), null, null, List.of(), List.of(), List.of(watches),
                List.of(), List.of(), List.of(), List.of(), List.of()));
    }

    private JobImage reading() {
        var stat = org.udckpt.linux.Files.stat(file.toString());
        OpenFile open = new OpenFile(1, file.toString(), 0, 0, stat.size(), stat.mode(), stat.device(), stat.inode(),
                stat.modified(), 0);
        return identified(new JobImage(List.of(), List.of(), List.of(), List.of(), List.of(open), List.of(), List.of(),
                null, null));
    }

    private JobImage identified(JobImage image) {
        Map<String, Long> inodes = Map.of(file.toString(), org.udckpt.linux.Files.stat(file.toString()).inode());
        return image.identified(IdentityReader.read(image, inodes, known));
    }

    private static FileIdentity row(JobImage image) {
        assertEquals(1, image.identities().size());
        return image.identities().getFirst();
    }

    private void accepted(JobImage image) {
        assertDoesNotThrow(() -> VerifiedFiles.of(image, SavedLibraries.NONE, true, warnings::add).close());
        assertDoesNotThrow(() -> Restorer.checkPrograms(image, List.of(), warnings::add), "a plan finds the same");
    }

    private String refused(Reason reason, JobImage image) {
        RestoreException refused =
                assertThrows(RestoreException.class,
                        () -> VerifiedFiles.of(image, SavedLibraries.NONE, true, warnings::add).close());
        assertEquals(reason, refused.reason(), refused.getMessage());
        assertTrue(refused.getMessage().contains(file.toString()), refused.getMessage());
        assertEquals(refused.getMessage(),
                assertThrows(RestoreException.class, () -> Restorer.checkPrograms(image, List.of(), warnings::add))
                        .getMessage(),
                "a plan finds the same");
        return refused.getMessage();
    }

    private static void contains(String text, String... words) {
        for (String word : words) {
            assertTrue(text.contains(word), "no '" + word + "' in: " + text);
        }
    }

    /** As a stranger leaves it who wants nobody to see that it changed. */
    private void forge(String text) throws IOException {
        FileTime time = Files.getLastModifiedTime(file);
        Files.writeString(file, text);
        Files.setLastModifiedTime(file, time);
    }

    @Test
    void sameContentsAreTakenWithAnotherTimeInAnotherFileAndElsewhere() throws IOException {
        JobImage image = image(MAPPED);
        accepted(image);
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
        accepted(image);
        Path again = Files.copy(file, directory.resolve("again"));
        Files.move(again, file, StandardCopyOption.REPLACE_EXISTING);
        accepted(image);
        Path other = Files.createDirectory(directory.resolve("other"));
        Files.move(file, other.resolve("lib.so"));
        accepted(image.identified(List.of(row(image).at(other.resolve("lib.so").toString()))));
        contains(refused(Reason.FILE_CHANGED, image), "is missing");
    }

    @Test
    void otherContentsOfTheSameSizeAndTimeAreRefused() throws IOException {
        JobImage image = image(MAPPED);
        forge("the code of now!");
        contains(refused(Reason.FILE_CHANGED, image), "which the job maps", "SHA-256 ", " now, ",
                " at the checkpoint; ", "16 bytes of ", "--map-path");
    }

    @Test
    void bothBuildIdsAreNamed() throws IOException {
        Files.copy(Path.of("/bin/true"), file, StandardCopyOption.REPLACE_EXISTING);
        JobImage image = image(MAPPED);
        String then = row(image).buildId();
        Files.copy(Path.of("/bin/false"), file, StandardCopyOption.REPLACE_EXISTING);
        String now = row(image(MAPPED)).buildId();
        assertTrue(then.length() >= 16 && now.length() >= 16 && !then.equals(now), then + " " + now);
        if (Files.size(Path.of("/bin/true")) == Files.size(Path.of("/bin/false"))) {
            contains(refused(Reason.FILE_CHANGED, image), "build id " + now + " now, " + then + " at the checkpoint");
        } else {
            contains(refused(Reason.FILE_CHANGED, image), "build id " + then);
        }
    }

    @Test
    void whoCouldNotWriteThenMayNotNow() throws IOException {
        JobImage image = image(MAPPED);
        mode(directory, "rwxrwxrwx");
        contains(refused(Reason.FORBIDDEN, image), "everybody (" + directory + ")", "chmod go-w");
        mode(directory, "rwxrwxr-x");
        contains(refused(Reason.FORBIDDEN, image), "group 0 (" + directory + ")");
        mode(directory, "rwxr-xr-x");
        stranger(file);
        contains(refused(Reason.FORBIDDEN, image), "user " + OrdinaryUser.STRANGER.uid() + " (" + file + ")");
        Files.setAttribute(file, "unix:uid", 0);
        accepted(image);
    }

    @Test
    void whereOthersCouldWriteThenTheDigestDecides() throws IOException {
        mode(directory, "rwxrwxrwx");
        JobImage image = image(MAPPED);
        assertEquals("everybody", row(image).writers());
        accepted(image);
        forge("the code of now!");
        contains(refused(Reason.FILE_CHANGED, image), "SHA-256 ");
        forge("the code of then");
        accepted(image);
    }

    @Test
    void anUntouchedFileIsNotReadAgain() throws Exception {
        Thread.sleep(3100); // a younger one could be written to without another time
        JobImage image = image(MAPPED);
        long read = known.readBytes();
        assertEquals(16, read);
        image(MAPPED);
        assertEquals(read, known.readBytes(), "the second checkpoint has read it again");
        assertTrue(row(image).changedNs() != 0);
        FileIdentity wrong = row(image);
        byte[] other = wrong.digest().clone();
        other[0]++;
        JobImage lying = image.identified(List.of(new FileIdentity(wrong.path(), wrong.use(), wrong.size(),
                wrong.modifiedNs(), wrong.changedNs(), wrong.bornNs(), wrong.device(), wrong.inode(),
                wrong.mode(), wrong.uid(), wrong.gid(), wrong.boot(), wrong.writers(), wrong.ownWriters(),
                wrong.buildId(), other, "")));
        accepted(lying); // for whose file it is, and when it was changed, is enough
        forge("the code of then");
        refused(Reason.FILE_CHANGED, lying);
        image(MAPPED);
        assertEquals(2 * read, known.readBytes(), "a file that was written to was not read again");
    }

    @Test
    void aFileThatWasJustWrittenIsKnownByItsDigestAlone() {
        assertEquals(0, row(image(MAPPED)).changedNs());
    }

    @Test
    void aFileWithoutDigestIsKnownBySizeAndTime() throws IOException {
        try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
            large.setLength((1L << 30) + 1);
        }
        JobImage image = image(MAPPED);
        contains(row(image).undigested(), "larger than 1 GiB");
        accepted(image);
        contains(String.join("\n", warnings), file.toString(), "size and time only");
        FileTime time = Files.getLastModifiedTime(file);
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
        refused(Reason.FILE_CHANGED, image);
        Files.setLastModifiedTime(file, time);
        mode(directory, "rwxrwxrwx");
        JobImage exposed = image(MAPPED);
        contains(refused(Reason.FORBIDDEN, exposed), "no digest");
    }

    @Test
    void anImageOfAnEarlierVersionGoesBySizeAndTimeAndSaysSo() throws IOException {
        var stat = org.udckpt.linux.Files.stat(file.toString());
        MappedFile then = new MappedFile(1, file.toString(), stat.size(), stat.modified());
        JobImage image = new JobImage(List.of(), List.of(), List.of(), List.of(), List.of(then), List.of(), List.of(),
                null, null);
        accepted(image);
        contains(String.join("\n", warnings), "earlier version", "size and time only");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
        contains(
                assertThrows(RestoreException.class, () -> Restorer.checkPrograms(image, List.of(), warnings::add))
                        .getMessage(),
                file.toString(), "differs from the file at the checkpoint");
    }

    /** The job would see that it was opened. */
    @Test
    void aFileThatTheJobWatchesIsNotOpened() {
        JobImage image = image(MAPPED, new InotifyWatch(1, 1, directory.toString(), 0xfff));
        contains(row(image).undigested(), "inotify");
        assertEquals(0, known.readBytes());
        assertTrue(row(image(MAPPED, new InotifyWatch(1, 1, directory.toString(), 2))).digest() != null,
                "a watch for writing minds no reader");
    }

    @Test
    void whatIsReadMayChangeByThoseWhoCouldWriteToIt() throws IOException {
        JobImage own = reading();
        assertFalse(row(own).digest() != null, "nobody needs it");
        forge("the data of now!");
        accepted(own);
        Files.delete(file);
        write(file, "another");
        accepted(own);
        stranger(file);
        JobImage theirs = reading();
        Files.writeString(file, "a line more, written by them");
        accepted(theirs);
        Files.setAttribute(file, "unix:uid", 0);
        accepted(theirs);
    }

    @Test
    void whatIsReadIsNotTakenFromAStranger() throws IOException {
        JobImage image = reading();
        stranger(file);
        contains(refused(Reason.FORBIDDEN, image), "which the job has open", "user " + OrdinaryUser.STRANGER.uid());
    }

    /** In a directory of everybody's the job read a file of its own. */
    @Test
    void whatIsReadIsTheSameFileOrHasTheSameContents() throws IOException {
        mode(directory, "rwxrwxrwx");
        JobImage image = reading();
        Files.writeString(file, "written by the user, to the same file");
        accepted(image);
        Files.writeString(file, "the code of then");
        Files.delete(file);
        write(file, "the code of then");
        accepted(image);
        forge("the data of now!");
        contains(refused(Reason.FILE_CHANGED, image), "SHA-256 ");
    }

    @Test
    void sharedMemoryOfAFileIsData() throws IOException {
        JobImage image = image(SHARED);
        assertEquals(FileIdentity.Use.SHARED, row(image).use());
        forge("the data of now!");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
        accepted(image);
        contains(String.join("\n", warnings), file.toString(), "was changed since the checkpoint");
        Files.delete(file);
        write(file, "the data of now!");
        contains(refused(Reason.FILE_CHANGED, image), "SHA-256 ");
        Files.delete(file);
        write(file, "the code of then");
        accepted(image);
        Files.writeString(file, "short");
        contains(refused(Reason.FILE_CHANGED, image), "has 5 bytes; it had 16");
        Files.writeString(file, "the code of then");
        stranger(file);
        refused(Reason.FORBIDDEN, image);
    }

    /** sssd's caches are other ones on each host. */
    @Test
    void dataOfServicesMayBeAnother() throws IOException {
        Path service = Files.createTempDirectory(Path.of("/var/tmp"), "udckpt-v");
        try {
            mode(service, "rwxr-xr-x");
            file = write(service.resolve("cache"), "the data of then");
            JobImage image = image(SHARED);
            assertEquals(null, row(image).digest());
            Files.delete(file);
            write(file, "the data of now, elsewhere");
            accepted(image);
            stranger(file);
            refused(Reason.FORBIDDEN, image);
        } finally {
            Files.delete(file);
            Files.delete(service);
        }
    }

    /** It was put back by the restart itself; who could have exchanged it since, is asked. */
    @Test
    void whatIsInTheImageIsKnownByItsPlace() throws IOException {
        JobFile saved = new JobFile.RegularFile(1, file.toString(), 16, 0644, 0, 0, 0, 0, 0, 0, JobFile.Cut.COPIED);
        JobImage plain = image(MAPPED);
        JobImage image = identified(plain.elsewhere(plain.processes(), plain.regions(), plain.objects(),
                plain.watches(), List.of(saved), List.of(), List.of()));
        assertEquals(null, row(image).digest());
        Files.delete(file);
        write(file, "the code that was put back");
        assertDoesNotThrow(() -> VerifiedFiles.of(image, SavedLibraries.NONE, true, warnings::add).close());
        mode(directory, "rwxrwxrwx");
        assertEquals(Reason.FORBIDDEN,
                assertThrows(RestoreException.class,
                        () -> VerifiedFiles.of(image, SavedLibraries.NONE, true, warnings::add)).reason());
        assertDoesNotThrow(() -> Restorer.checkPrograms(image, List.of(), warnings::add),
                "before it is put back nobody looks at it");
    }

    /** As on another distribution, where each library is another one. */
    @Test
    void allThatDifferAreNamedAtOnce() throws IOException {
        JobImage image = image(MAPPED);
        List<FileIdentity> rows = new ArrayList<>(List.of(row(image)));
        for (int i = 1; i < RefusedFiles.NAMED + 4; i++) {
            rows.add(row(image).at(directory.resolve("lib" + i + ".so").toString()));
        }
        forge("the code of now!");
        String message = refused(Reason.FILE_CHANGED, image.identified(rows));
        List<String> lines = message.lines().toList();
        assertEquals(RefusedFiles.NAMED + 3, lines.size(), message);
        contains(lines.getFirst(), (RefusedFiles.NAMED + 4) + " files");
        contains(lines.get(1), file.toString(), "SHA-256");
        contains(lines.get(2), "lib1.so", "is missing");
        assertEquals("and 4 more", lines.get(RefusedFiles.NAMED + 1));
        contains(lines.getLast(), "--map-path OLD=NEW", "--map-path /usr=");
        assertEquals(message.indexOf("OLD=NEW"), message.lastIndexOf("OLD=NEW"),
                "the way out is said once: " + message);
    }

    @Test
    void oneWhoseWritersAreNewMakesItForbidden() throws IOException {
        JobImage image = image(MAPPED);
        String gone = directory.resolve("gone.so").toString();
        mode(directory, "rwxrwxrwx");
        contains(refused(Reason.FORBIDDEN, image.identified(List.of(row(image).at(gone), row(image)))), gone,
                "can be replaced");
    }

    @Test
    void aDirectoryOrFifoInItsPlaceIsRefused() throws Exception {
        JobImage image = image(MAPPED);
        Files.delete(file);
        Files.createDirectory(file);
        contains(refused(Reason.FILE_CHANGED, image), "not a regular file");
        Files.delete(file);
        assertEquals(0, new ProcessBuilder("mkfifo", file.toString()).start().waitFor());
        contains(refused(Reason.FILE_CHANGED, image), "not a regular file");
    }

    /** What was verified is kept, whatever becomes of the name. */
    @Test
    void theVerifiedFileIsHandedOut() throws IOException {
        JobImage image = image(MAPPED);
        try (VerifiedFiles files = VerifiedFiles.of(image, SavedLibraries.NONE, true, warnings::add)) {
            var verified = org.udckpt.linux.Files.stat(file.toString());
            Files.move(file, directory.resolve("away"));
            write(file, "the code of now!");
            assertTrue(org.udckpt.linux.Files.stat(files.mapped(file.toString())).isSame(verified));
        }
        try (VerifiedFiles files = VerifiedFiles.of(reading(), SavedLibraries.NONE, true, warnings::add)) {
            Files.delete(file);
            write(file, "another");
            contains(assertThrows(RestoreException.class,
                    () -> files.requireSame(file.toString(), org.udckpt.linux.Files.stat(file.toString())))
                    .getMessage(), "was replaced during the restart");
        }
    }
}
