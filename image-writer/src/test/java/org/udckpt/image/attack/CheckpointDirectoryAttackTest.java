package org.udckpt.image.attack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.attack.AsUser;
import org.udckpt.attack.Attacker;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.attack.Tries;
import org.udckpt.image.ImageError;
import org.udckpt.image.Images;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.VerifiedMark;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.write.FakeProcess;

/**
 * A stranger who can write to the directory of checkpoints, as in a group's that was allowed by {@code --shared-dir},
 * exchanges names there in the moments in which its owner, root or another user, works there.
 */
@Timeout(value = 15, unit = java.util.concurrent.TimeUnit.MINUTES)
class CheckpointDirectoryAttackTest {
    private static final int EVERYBODY = 0777, STICKY = 01777;
    private static final int OWNER = 61001; // as OrdinaryUser.OWNER: annotations take constants only
    private static final int SECONDS = 600;

    private Path place;
    private Path shared;
    private Path programs;

    @BeforeEach
    void places() throws IOException {
        OrdinaryUser.requireRoot();
        place = Files.createTempDirectory("udckpt-attack"); // not JUnit's, which only root can enter
        mode(place, 0755);
        programs = Files.createDirectory(place.resolve("programs"));
        shared = Files.createDirectory(place.resolve("shared"));
        mode(shared, EVERYBODY);
    }

    @AfterEach
    void remove() throws IOException {
        if (place != null) {
            empty(place);
        }
    }

    private static void empty(Path directory) throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path left, IOException e) throws IOException {
                Files.delete(left);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** What there is still of the names goes, out of the attacker's reach first. */
    private void takeAway(Path... names) throws IOException {
        Path trash = Files.createDirectory(place.resolve("trash"));
        for (Path name : names) {
            if (Files.exists(name, LinkOption.NOFOLLOW_LINKS)) {
                Files.move(name, trash.resolve(name.getFileName()));
            }
        }
        empty(trash);
    }

    private static void mode(Path path, int mode) throws IOException {
        Files.setAttribute(path, "unix:mode", mode);
    }

    private static void own(Path path, int uid) throws IOException {
        Files.setAttribute(path, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(path, "unix:gid", uid, LinkOption.NOFOLLOW_LINKS);
    }

    private Path program(String name) throws IOException {
        return OrdinaryUser.program(name, programs);
    }

    private Attacker swaps(Path name, Path other) throws IOException {
        return Attacker.start(program("swap_names").toString(), "" + SECONDS, name.toString(), other.toString(),
                shared.toString());
    }

    /** A directory of the victim's, or a file, that nobody may touch. */
    private Path precious(int victim) throws IOException {
        Path directory = Files.createDirectory(place.resolve("precious"));
        for (String name : List.of("diary", "node-0000.stripe-00", "writer")) {
            own(Files.writeString(directory.resolve(name), "precious"), victim);
        }
        own(directory, victim);
        return directory;
    }

    private static boolean isWhole(Path precious) throws IOException {
        for (String name : List.of("diary", "node-0000.stripe-00", "writer")) {
            if (Files.notExists(precious.resolve(name))
                    || !Files.readString(precious.resolve(name)).equals("precious")) {
                return false;
            }
        }
        return true;
    }

    /** What a dead writer has left is removed; a link in its place leads to another directory of the victim's. */
    @ParameterizedTest
    @ValueSource(ints = {0, OWNER})
    void aLinkInThePlaceOfAnUnfinishedCheckpoint(int victim) throws Exception {
        Path precious = precious(victim);
        Path checkpoint = shared.resolve("ckpt-0001");
        Path link = shared.resolve(".link");
        try (Attacker attacker = swaps(checkpoint, link)) {
            Tries.noneWins("a link in the place of an unfinished checkpoint, uid " + victim, _ -> {
                Path left = Files.createDirectory(place.resolve("left")); // made where he cannot reach it
                for (int i = 0; i < 8; i++) {
                    own(Files.createFile(left.resolve("node-0000.stripe-0" + i)), victim);
                }
                own(left, victim);
                mode(left, 0700);
                own(Files.createSymbolicLink(link, precious), OrdinaryUser.STRANGER.uid());
                Files.move(left, checkpoint);
                AsUser.call(victim, this::clean);
                takeAway(checkpoint, link);
                return !isWhole(precious);
            });
            assertTrue(attacker.end() > 0, "nothing was exchanged");
        }
    }

    /** Removes what can be removed; what was exchanged is an error that names it. */
    private Object clean() {
        try {
            return new Catalogue(shared, Images.KEY).clean();
        } catch (IOException e) {
            assertTrue(String.valueOf(e.getMessage()).contains(shared.toString()), "what was exchanged is named: " + e);
            return e;
        }
    }

    /**
     * The stranger's directory takes the place of the checkpoint between two opens of one file: the memory of the job
     * would go to him.
     */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(ints = {0, OWNER})
    void aDirectoryInThePlaceOfACheckpointThatIsWritten(int victim) throws Exception {
        Path evil = shared.resolve(".evil");
        List<FakeProcess> processes = Images.processes(new Random(1), 1);
        int[] written = {0};
        Tries.noneWins("a directory in the place of a checkpoint that is written, uid " + victim, number -> {
            empty(shared);
            Files.createDirectory(shared);
            mode(shared, EVERYBODY);
            Files.createDirectory(evil);
            for (String name : List.of("node-0000.stripe-00", "node-0000.stripe-01", "node-0000.chunks.arrow",
                    "manifest.new", "writer")) {
                if (number % 2 == 0 || !name.equals("writer")) {
                    Files.createFile(evil.resolve(name));
                    own(evil.resolve(name), OrdinaryUser.STRANGER.uid());
                    mode(evil.resolve(name), 0666);
                }
            }
            own(evil, OrdinaryUser.STRANGER.uid());
            mode(evil, EVERYBODY);
            long inode = (long) Files.getAttribute(evil, "unix:ino");
            try (Attacker attacker = swaps(shared.resolve("ckpt-0001"), evil)) {
                AsUser.call(victim, () -> write(processes, written));
                attacker.end();
            }
            return leaked(inode);
        });
        assertTrue(written[0] > 0, "no checkpoint at all was written beside the attacker");
    }

    private Object write(List<FakeProcess> processes, int[] written) {
        try {
            written[0]++;
            return Images.write(shared, Images.options(), processes);
        } catch (IOException e) {
            written[0]--;
            return e;
        }
    }

    /** Whether anything came into the stranger's directory, wherever that is now. */
    private boolean leaked(long inode) throws IOException {
        try (var entries = Files.list(shared)) {
            for (Path entry : entries.toList()) {
                if ((long) Files.getAttribute(entry, "unix:ino", LinkOption.NOFOLLOW_LINKS) == inode) {
                    try (var files = Files.list(entry)) {
                        for (Path file : files.toList()) {
                            if (Files.size(file) > 0
                                    || (int) Files.getAttribute(file, "unix:uid") != OrdinaryUser.STRANGER.uid()) {
                                return true;
                            }
                        }
                    }
                }
            }
        }
        return false;
    }

    /**
     * The mark of a checkpoint that lies in the stranger's directory is a link by the time at which it is opened again.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, OWNER})
    void aLinkInThePlaceOfTheVerifiedMark(int victim) throws Exception {
        Path precious = precious(victim);
        mode(shared, 0755);
        Images.write(shared, Images.options(), Images.processes(new Random(2), 1));
        Path checkpoint = shared.resolve("ckpt-0001");
        own(checkpoint, OrdinaryUser.STRANGER.uid());
        mode(checkpoint, EVERYBODY);
        mode(checkpoint.resolve("manifest"), 0644);
        try (Attacker attacker = Attacker.start(program("link_into").toString(), "" + SECONDS, checkpoint.toString(),
                "verified", precious.resolve("diary").toString())) {
            Tries.noneWins("a link in the place of the verified mark, uid " + victim, _ -> {
                AsUser.call(victim, () -> {
                    try {
                        new VerifiedMark(LocalStorage.INSTANCE).write(checkpoint);
                        return "";
                    } catch (IOException e) {
                        assertTrue(String.valueOf(e.getMessage()).contains(checkpoint.toString()), String.valueOf(e));
                        return e;
                    }
                });
                return !isWhole(precious);
            });
        }
    }

    /** Whoever can open a file can lock it, and hold up who waits for it. */
    @ParameterizedTest
    @ValueSource(ints = {0, OWNER})
    void aLockThatAStrangerHolds(int victim) throws Exception {
        List<FakeProcess> processes = Images.processes(new Random(3), 1);
        Tries.noneWins("a lock that a stranger holds, uid " + victim, 10, number -> {
            empty(shared);
            Files.createDirectory(shared);
            mode(shared, EVERYBODY);
            boolean first = number % 2 == 0; // he comes before the first checkpoint, or after it
            if (!first) {
                AsUser.call(victim, () -> Images.write(shared, Images.options(), processes));
            }
            try (Attacker lock = Attacker.start(program("hold_lock").toString(), shared.resolve("lock").toString());
                    Attacker directory = Attacker.start(program("hold_lock").toString(), shared.toString())) {
                assertEquals(first ? 3 : 0, Integer.parseInt(lock.said()), "what he can lock in the file");
                assertTrue(Integer.parseInt(directory.said()) > 0, "he can lock the directory");
                long begin = System.nanoTime();
                String outcome = AsUser.call(victim, () -> {
                    try {
                        Images.write(shared, Images.options(), processes);
                        return "";
                    } catch (ImageError.Untrusted e) {
                        return e.getMessage();
                    }
                });
                if (first) {
                    assertTrue(outcome.contains(
                            "lock file " + shared.resolve("lock") + " belongs to user " + OrdinaryUser.STRANGER.uid()),
                            outcome);
                } else {
                    assertEquals("", outcome);
                }
                return System.nanoTime() - begin > 10_000_000_000L;
            }
        });
    }

    /**
     * In a directory like /tmp he can take names, but no name of others; what he makes there is passed by or named, and
     * leads nowhere.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, OWNER})
    void linksInAStickyDirectory(int victim) throws Exception {
        Path precious = precious(victim);
        List<FakeProcess> processes = Images.processes(new Random(4), 1);
        int[] written = {0};
        Tries.noneWins("links in a sticky directory, uid " + victim, number -> {
            empty(shared);
            Files.createDirectory(shared);
            mode(shared, STICKY);
            String name = List.of("sequence.new", "sequence", "ckpt-0001", "ckpt-0002", "lock").get(number % 5);
            own(Files.createSymbolicLink(shared.resolve(name),
                    name.startsWith("ckpt") ? precious : precious.resolve("diary")), OrdinaryUser.STRANGER.uid());
            AsUser.call(victim, () -> {
                clean();
                return write(processes, written);
            });
            return !isWhole(precious);
        });
        assertTrue(written[0] > 0, "no checkpoint at all was written beside the links");
    }

    /** A restart reads from directories that are exchanged meanwhile: all of one checkpoint, or an error. */
    @ParameterizedTest
    @ValueSource(ints = {0, OWNER})
    void aCheckpointIsExchangedWhileItIsRead(int victim) throws Exception {
        List<FakeProcess> processes = Images.processes(new Random(5), 2);
        AsUser.call(victim, () -> Images.write(shared, Images.options(), processes));
        Path other = shared.resolve(".other");
        Files.move(shared.resolve("ckpt-0001"), other);
        Files.delete(shared.resolve("sequence"));
        AsUser.call(victim, () -> Images.write(shared, Images.options(), Images.processes(new Random(6), 2)));
        int[] read = {0};
        // Without a pause: to read a file is no event in the directory above its own.
        try (Attacker attacker = Attacker.start(program("swap_names").toString(), "" + SECONDS,
                shared.resolve("ckpt-0001").toString(), other.toString())) {
            Tries.noneWins("a checkpoint is exchanged while it is read, uid " + victim, _ -> AsUser.call(victim, () -> {
                try (CheckpointReader reader = CheckpointReader.open(shared.resolve("ckpt-0001"), Images.KEY)) {
                    reader.verify((_, _) -> {});
                    read[0]++;
                    return false;
                } catch (IOException e) {
                    return true; // what was opened is opened: even an error says that names were used twice
                }
            }));
            assertTrue(attacker.end() > 0, "nothing was exchanged");
        }
        assertEquals(Tries.count(1), read[0], "each was read whole");
        empty(other);
    }
}
