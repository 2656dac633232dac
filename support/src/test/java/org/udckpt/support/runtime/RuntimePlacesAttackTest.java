package org.udckpt.support.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.attack.Tries;
import org.udckpt.linux.User;

/**
 * A stranger who makes the names of a user's runtime directories, before and in the very moment in which they are made.
 */
@Timeout(600)
class RuntimePlacesAttackTest {
    private static final String NAME = "udckpt-" + User.id();

    @TempDir
    Path temp;
    private Path shared;
    private Path evil;
    private Path flip;

    @BeforeEach
    void shareADirectory() throws Exception {
        OrdinaryUser.requireRoot();
        Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwxr-xr-x"));
        shared = Files.createDirectory(temp.resolve("shm"));
        Files.setAttribute(shared, "unix:mode", 01777);
        evil = OrdinaryUser.STRANGER.own(Files.createDirectory(temp.resolve("evil")));
        flip = OrdinaryUser.program("flip_name", temp);
    }

    private RuntimePlaces places(String session) {
        return new RuntimePlaces("", session, temp.resolve("no-logins").toString(), shared.toString());
    }

    /** Whether a stranger has it, or can get at it. */
    private static boolean isStrangers(Path place) throws Exception {
        return (int) Files.getAttribute(place, "unix:uid", LinkOption.NOFOLLOW_LINKS) != User.id()
                || !Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS)
                || !PosixFilePermissions.toString(Files.getPosixFilePermissions(place, LinkOption.NOFOLLOW_LINKS))
                        .equals("rwx------");
    }

    private void stranger(String... command) throws Exception {
        assertEquals(0, OrdinaryUser.STRANGER.run(command), String.join(" ", command));
    }

    private void clear() throws Exception {
        try (var entries = Files.list(shared)) {
            for (Path entry : entries.toList()) {
                Files.delete(entry);
            }
        }
    }

    @Test
    void aNameThatAStrangerHoldsIsPassedBy() throws Exception {
        Path plain = shared.resolve(NAME);
        List<List<String>> holds = List.of(List.of("mkdir", "-m", "777", plain.toString()),
                List.of("ln", "-s", evil.toString(), plain.toString()), List.of("touch", plain.toString()),
                List.of("mkfifo", plain.toString()));
        for (List<String> hold : holds) {
            clear();
            stranger(hold.toArray(String[]::new));
            stranger("mkdir", shared.resolve(NAME + ".00000000").toString());
            Path place = places("").choose();
            assertTrue(!place.equals(plain) && !isStrangers(place)
                    && place.getFileName().toString().startsWith(NAME + "."), place.toString());
            assertEquals(place, new RuntimePlaces("", "", temp.resolve("other").toString(), shared.toString()).choose(),
                    "the next process finds it again");
            assertEquals(List.of(place), places("").known(), "and no stranger's");
        }
    }

    @Test
    void inTheMomentInWhichItIsMade() throws Exception {
        Process attacker =
                OrdinaryUser.STRANGER.start(flip.toString(), shared.resolve(NAME).toString(), evil.toString());
        try {
            Tries.noneWins("a stranger makes the runtime directory first", number -> {
                // Each place of its own: what was chosen once is not chosen again.
                Path place = new RuntimePlaces("", "", temp.resolve("login" + number).toString(), shared.toString())
                        .choose();
                boolean won = isStrangers(place);
                Thread.sleep(2);
                won |= isStrangers(place) || !RuntimePlaces.isOwn(place);
                if (!won) {
                    Files.delete(place);
                }
                return won;
            });
            assertTrue(attacker.isAlive());
        } finally {
            attacker.destroyForcibly().waitFor();
        }
    }

    /** As su(1) and sudo(8) leave it, or a directory that others can enter. */
    @Test
    void theSessionsDirectoryIsTheUsersOwnOrNotUsed() throws Exception {
        Path strangers = OrdinaryUser.STRANGER.own(Files.createDirectory(temp.resolve("strangers-session"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
        Path open = Files.createDirectory(temp.resolve("open-session"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path link = Files.createSymbolicLink(evil.resolve("session"), open); // the stranger's directory holds it
        for (Path session : List.of(strangers, open, link, temp.resolve("none"), Path.of("relative"))) {
            assertEquals(shared.resolve(NAME), places(session.toString()).choose(), session.toString());
            assertEquals(List.of(shared.resolve(NAME)), places(session.toString()).known(), session.toString());
        }
    }

    @Test
    void theSessionsOwnDirectoryIsUsedAndFoundWithoutTheVariable() throws Exception {
        Path logins = Files.createDirectories(Path.of("/dev/shm/udckpt-test-logins-" + ProcessHandle.current().pid()));
        Path session = Files.createDirectory(logins.resolve(Integer.toString(User.id())),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        try {
            Path place = new RuntimePlaces("", session.toString(), logins.toString(), shared.toString()).choose();
            assertEquals(session.resolve("udckpt"), place);
            assertTrue(!isStrangers(place));
            Path later = new RuntimePlaces("", "", logins.toString(), shared.toString()).choose();
            assertEquals(shared.resolve(NAME), later, "cron has no variable");
            assertEquals(List.of(place, later), new RuntimePlaces("", "", logins.toString(), shared.toString()).known(),
                    "it looks there all the same");
        } finally {
            Files.deleteIfExists(session.resolve("udckpt"));
            Files.delete(session);
            Files.delete(logins);
        }
    }
}
