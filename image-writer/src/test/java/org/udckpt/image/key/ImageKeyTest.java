package org.udckpt.image.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.image.ImageError;
import org.udckpt.image.Images;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.linux.Syscall;

@Timeout(90)
class ImageKeyTest {
    @TempDir
    Path temp;

    @Test
    void theFirstUseMakesAKeyAndLaterOnesFindIt() throws Exception {
        Path file = temp.resolve("config/udckpt/key");
        ImageKey first = ImageKey.ofUser(Map.of("UDCKPT_KEY_FILE", file.toString()));
        assertEquals(first.id(), ImageKey.load(file).id());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertNotEquals(first.id(), ImageKey.load(temp.resolve("other")).id());
        assertFalse(first.toString().contains(Files.readString(file).strip()));
        try (var files = Files.list(file.getParent())) {
            assertEquals(List.of(file), files.toList());
        }
    }

    @Test
    void firstUsesAtOnceAgree() throws Exception {
        Path file = temp.resolve("key");
        try (var threads = Executors.newFixedThreadPool(8)) {
            HashSet<String> ids = new HashSet<>();
            Callable<String> use = () -> ImageKey.load(file).id();
            for (Future<String> id : threads.invokeAll(Collections.nCopies(32, use))) {
                ids.add(id.get());
            }
            assertEquals(1, ids.size());
        }
    }

    @Test
    void aKeyThatOthersReadIsRefused() throws Exception {
        Path file = temp.resolve("key");
        ImageKey.load(file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        IOException error = assertThrows(IOException.class, () -> ImageKey.load(file));
        assertTrue(error.getMessage().contains(file.toString()) && error.getMessage().contains("chmod 600"),
                error.getMessage());
    }

    /** Root could read it; who made it may know it, and what it seals would run as root. */
    @Test
    void aKeyOfSomebodyElseIsRefused() throws Exception {
        OrdinaryUser.requireRoot();
        Path file = temp.resolve("key");
        ImageKey.load(file);
        OrdinaryUser.STRANGER.own(file);
        refused(file, "belongs to user " + OrdinaryUser.STRANGER.uid() + ", but you are user 0");
        Path link = Files.createSymbolicLink(temp.resolve("link"), file);
        refused(link, "belongs to user " + OrdinaryUser.STRANGER.uid());
        String said = assertThrows(IOException.class, () -> EncryptionSecret.from("file:" + file)).getMessage();
        assertTrue(said.contains("belongs to user " + OrdinaryUser.STRANGER.uid()), said);
    }

    /** Whoever lacks the key of another user's checkpoint is told whose it is, and not to look for the key. */
    @Test
    void aCheckpointOfSomebodyElseSaysWhose() throws Exception {
        OrdinaryUser.requireRoot();
        Images.write(temp.resolve("c"), Images.options(), Images.processes(new Random(1), 1));
        OrdinaryUser.STRANGER.own(temp.resolve("c/ckpt-0001/manifest"));
        for (ImageKey key : List.of(ImageKey.of(new byte[32]),
                ImageKey.ofReader(Map.of("UDCKPT_KEY_FILE", temp.resolve("none").toString())))) {
            String said = assertThrows(ImageError.class, () -> CheckpointReader.open(temp.resolve("c/ckpt-0001"), key))
                    .getMessage();
            assertTrue(said.contains("the checkpoint belongs to user " + OrdinaryUser.STRANGER.uid()
                    + ", and a restart by you would run its processes as user 0")
                    && !said.contains("UDCKPT_KEY_FILE"), said);
        }
    }

    /** Whatever the umask: the next command must find it, and nobody else. */
    @Test
    void theUmaskDoesNotMatter() throws Exception {
        for (int umask : new int[]{0777, 0}) {
            Path file = temp.resolve("umask" + umask).resolve("config/key");
            long before = Syscall.call(Syscall.UMASK, umask);
            try {
                ImageKey.load(file);
            } finally {
                Syscall.call(Syscall.UMASK, before);
            }
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
            assertEquals("rwx------",
                    PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent().getParent())));
        }
    }

    /** Nothing is made, and what is sealed says which key is missing, and where. */
    @Test
    void whoOnlyReadsMakesNoKey() throws Exception {
        Path file = temp.resolve("none/key");
        ImageKey none = ImageKey.ofReader(Map.of("UDCKPT_KEY_FILE", file.toString()));
        assertEquals(file, none.missing());
        assertFalse(Files.exists(file.getParent()));
        assertThrows(IllegalStateException.class, none::id);
        Images.write(temp.resolve("c"), Images.options(), Images.processes(new Random(1), 1));
        ImageError.NoKey locked =
                assertThrows(ImageError.NoKey.class, () -> CheckpointReader.open(temp.resolve("c/ckpt-0001"), none));
        assertTrue(locked.getMessage().contains("sealed with key " + Images.KEY.id())
                && locked.getMessage().contains("no key in " + file), locked.getMessage());
        Catalogue.Entry entry = new Catalogue(temp.resolve("c"), none).list().getFirst();
        assertTrue(entry.state() == Catalogue.State.CORRUPT && entry.problem() instanceof ImageError.NoKey,
                entry.toString());
    }

    @Test
    void whatIsNoFileOfOnesOwnIsRefusedWithTheReason() throws Exception {
        Path file = Files.createFile(temp.resolve("file"));
        refused(file.resolve("key"), "cannot be created: " + file + ": not a directory; ");
        refused(temp, "is not a regular file");
        Path loop = temp.resolve("loop");
        refused(Files.createSymbolicLink(loop, loop), "cannot be read: Too many levels of symbolic links");
    }

    private static void refused(Path file, String reason) {
        String said = assertThrows(IOException.class, () -> ImageKey.load(file)).getMessage();
        assertTrue(said.startsWith("key file " + file + " ") && said.contains(reason), said);
    }

    @Test
    void whatIsNoKeyIsRefused() throws Exception {
        Path file = temp.resolve("key");
        for (String content : List.of("", "zz", "ab".repeat(31), "ab".repeat(33), "xy".repeat(32))) {
            Files.writeString(file, content);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            assertTrue(assertThrows(IOException.class, () -> ImageKey.load(file)).getMessage().contains("not a key"),
                    content);
        }
    }
}
