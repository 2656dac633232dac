package org.udckpt.process.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * A directory that was saved comes back as it was, with all that is not its content; what it was meanwhile is kept;
 * nothing happens by halves.
 */
@Timeout(300)
class RollbackTest {
    @TempDir
    Path directory;
    private Path work;

    @BeforeEach
    void files() throws Exception {
        work = Files.createDirectories(directory.resolve("work/sub")).getParent();
        write("log", 100_000);
        write("sub/table", 3_000_000);
        write("sub/empty", 0);
        Files.setPosixFilePermissions(write("script", 100), PosixFilePermissions.fromString("rwxr-x---"));
        Files.createLink(work.resolve("sub/other-name"), work.resolve("log"));
        Files.createSymbolicLink(work.resolve("latest"), Path.of("sub/table"));
        Files.createSymbolicLink(work.resolve("nowhere"), Path.of("/nonexistent/x"));
        assertEquals(0,
                new ProcessBuilder("truncate", "-s", "40M", write("sparse", 5000).toString()).start().waitFor());
        Files.setLastModifiedTime(work.resolve("log"), FileTime.fromMillis(1_000_000_123_456L));
    }

    private Path write(String name, int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(name.hashCode()).nextBytes(bytes);
        return Files.write(work.resolve(name), bytes);
    }

    private SavedFiles save() {
        return SavedFiles.of(SavedFiles.named(work.toString(), work + "/sub", work + "/l*", work + "/later/*"),
                cut -> {}, () -> {});
    }

    @Test
    void allComesBack() throws Exception {
        Map<String, String> then = state();
        SavedFiles saved = save();
        assertEquals(List.of(), saved.restore(true), "nothing has changed, and nothing is touched");
        Files.writeString(work.resolve("log"), "the future", java.nio.file.StandardOpenOption.APPEND);
        Files.delete(work.resolve("sub/table"));
        Files.delete(work.resolve("latest"));
        Files.createSymbolicLink(work.resolve("latest"), Path.of("made-later"));
        write("made-later", 10);
        Files.createDirectory(work.resolve("later"));
        write("later/below", 10);
        Files.write(work.resolve("sparse"), new byte[]{1});
        Files.setPosixFilePermissions(work.resolve("script"), PosixFilePermissions.fromString("rw-rw-rw-"));
        Map<String, RolledBack> report = new TreeMap<>();
        saved.restore(true).forEach(file -> report.put(work.relativize(Path.of(file.path())).toString(), file));
        assertEquals(then, state());
        assertEquals(
                "later MADE_SINCE, latest REPLACED, log REPLACED, made-later MADE_SINCE, sparse REPLACED, "
                        + "sub/other-name REPLACED, sub/table PUT_BACK",
                String.join(", ", report.entrySet().stream()
                        .map(entry -> entry.getKey() + " " + entry.getValue().what()).toList()));
        assertTrue(Files.readString(Path.of(report.get("log").kept()), java.nio.charset.StandardCharsets.ISO_8859_1)
                .endsWith("the future"));
        assertEquals(100_010, report.get("log").fromSize());
        assertEquals(work + "/log.udckpt-rolled-back-ckpt-0001", report.get("log").kept());
        assertTrue(Files.exists(Path.of(report.get("later").kept(), "below")));
        assertTrue((Long) Files.getAttribute(work.resolve("sparse"), "unix:size") > 1_000_000
                && blocks(work.resolve("sparse")) < 100, "holes were filled");
        write("log", 5);
        assertEquals(work + "/log.udckpt-rolled-back-ckpt-0001.2", saved.restore(true).getFirst().kept());
    }

    @Test
    void nothingIsKeptWhereThatIsWanted() throws Exception {
        SavedFiles saved = save();
        Map<String, String> then = state();
        write("log", 7);
        Files.createDirectory(work.resolve("later"));
        write("later/below", 10);
        saved.restore(false);
        assertEquals(then, state());
        try (Stream<Path> left = Files.walk(work)) {
            assertEquals(List.of(), left.filter(path -> path.getFileName().toString().contains("udckpt")).toList());
        }
    }

    /** The directory is gone, as on another machine or after somebody has tidied up. */
    @Test
    void aDirectoryThatIsGone() throws Exception {
        Map<String, String> then = state();
        SavedFiles saved = save();
        assertEquals(0, new ProcessBuilder("rm", "-r", work.toString()).start().waitFor());
        saved.restore(true);
        assertEquals(then, state());
    }

    /** {@link SavedFiles#restore} compares what was foretold with what is done, each time. */
    @Test
    void aForecastChangesNothing() throws Exception {
        SavedFiles saved = save();
        write("log", 20);
        write("made-later", 10);
        Files.delete(work.resolve("script"));
        assertEquals(0, new ProcessBuilder("rm", "-r", work.resolve("sub").toString()).start().waitFor());
        Map<String, String> before = state();
        List<RolledBack> found = Forecast.of(saved.image(), saved.contents(),
                new RollbackRequest("ckpt-0001", true, List.of(), "", new long[0], Set.of()));
        assertEquals(before, state());
        assertEquals(RolledBack.What.REPLACED,
                found.stream().filter(file -> file.path().endsWith("/log")).findFirst().orElseThrow().what());
        assertTrue(found.stream().anyMatch(file -> file.path().endsWith("sub/table")
                && file.what() == RolledBack.What.PUT_BACK && file.toSize() == 3_000_000), found.toString());
        saved.restore(false);
    }

    /** The restart fails after the files had been put back: all are again what they were before it. */
    @Test
    void aRestartThatFailsChangesNothing() throws Exception {
        SavedFiles saved = save();
        write("log", 20);
        write("made-later", 10);
        Files.delete(work.resolve("script"));
        Map<String, String> before = state();
        try (Rollback rollback = Rollback.prepare(saved.image(), saved.contents(),
                new RollbackRequest("ckpt-0001", true, List.of(), "", new long[0], Set.of()))) {
            assertEquals(contents(before), contents(state()), "only names that nobody sees");
            rollback.swap();
            assertFalse(contents(before).equals(contents(state())));
        }
        assertEquals(contents(before), contents(state()));
    }

    /** Its processes ran already, and removed what had been put back. */
    @Test
    void aRestartThatFailsLateChangesNothingEither() throws Exception {
        SavedFiles saved = save();
        write("log", 20);
        write("script", 30);
        Map<String, String> before = state();
        try (Rollback rollback = Rollback.prepare(saved.image(), saved.contents(),
                new RollbackRequest("ckpt-0001", true, List.of(), "", new long[0], Set.of()))) {
            rollback.swap();
            Files.delete(work.resolve("script"));
            Files.delete(work.resolve("log"));
        }
        assertEquals(contents(before), contents(state()));
    }

    @Test
    void whatStandsInTheWayIsNamed() throws Exception {
        SavedFiles saved = save();
        Files.delete(work.resolve("log"));
        Files.createDirectory(work.resolve("log"));
        refused(saved, work + "/log was a file at the checkpoint and is now a directory");
        Files.delete(work.resolve("log"));
        Files.move(work.resolve("sub"), directory.resolve("elsewhere"));
        Files.createSymbolicLink(work.resolve("sub"), directory.resolve("elsewhere"));
        refused(saved, "is a symbolic link that did not exist at the checkpoint");
        Files.delete(work.resolve("sub"));
        Files.writeString(work.resolve("sub"), "a file");
        refused(saved, "is a file where a directory was");
        assertTrue(Files.isRegularFile(directory.resolve("elsewhere/table")), "what a link leads to was touched");
    }

    private void refused(SavedFiles saved, String words) throws IOException {
        Map<String, String> before = state();
        FilesChanged changed = assertThrows(FilesChanged.class, () -> saved.restore(true));
        assertTrue(changed.getMessage().contains(words), changed.getMessage());
        assertEquals(before, state());
    }

    @Test
    void aFullDiskChangesNothing() throws Exception {
        Path small = Files.createDirectory(directory.resolve("small"));
        assumeTrue(new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=8M", "udckpt-test", small.toString()).start()
                .waitFor() == 0, "mounting is not permitted here");
        try {
            work = small;
            write("table", 5 << 20);
            SavedFiles saved = save();
            write("table", (5 << 20) - 1);
            Map<String, String> before = state();
            LinuxError full = assertThrows(LinuxError.class, () -> saved.restore(true));
            assertTrue(full.isNoSpace() && full.getMessage().contains(small + "/table"), full.getMessage());
            assertEquals(before, state());
            write("table", 1 << 20);
            saved.restore(true);
            assertEquals(5 << 20, Files.size(small.resolve("table")));
        } finally {
            assertEquals(0, new ProcessBuilder("umount", "-l", small.toString()).start().waitFor());
        }
    }

    /** Path, kind, mode, time and content of all. */
    private Map<String, String> state() throws IOException {
        Map<String, String> state = new TreeMap<>();
        try (Stream<Path> all = Files.walk(work)) {
            for (Path path : all.filter(one -> !one.toString().contains(".udckpt-rolled-back-")).toList()) {
                Map<String, Object> stat =
                        Files.readAttributes(path, "unix:mode,lastModifiedTime,nlink,uid", LinkOption.NOFOLLOW_LINKS);
                String content = Files.isSymbolicLink(path) ? Files.readSymbolicLink(path).toString()
                        : Files.isDirectory(path) ? "" : java.util.Arrays.hashCode(Files.readAllBytes(path)) + "";
                state.put(work.relativize(path).toString(),
                        Files.isSymbolicLink(path) ? content
                                : content + " " + stat.get("mode") + " " + stat.get("uid") + " "
                                        + (Files.isDirectory(path) ? "" : stat.get("nlink")) + " "
                                        + stat.get("lastModifiedTime"));
            }
        }
        return state;
    }

    /** Without the times of directories, which each name changes. */
    private static Map<String, String> contents(Map<String, String> state) {
        Map<String, String> contents = new TreeMap<>();
        state.forEach((path, what) -> contents.put(path, what.startsWith(" ") ? "directory" : what));
        return contents;
    }

    private static long blocks(Path file) throws Exception {
        Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
        return Long.parseLong(new String(stat.getInputStream().readAllBytes()).strip());
    }
}
