package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.attack.Attacker;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.attack.Tries;

/**
 * A job whose checkpoints go to a group's directory, in which a member exchanges them with what he likes, without a
 * pause: it ends right.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class SharedDirectoryAttackTest {
    private static final String PROGRAM = "echo started; until [ -e @/finish ]; do sleep 0.05; done; echo result 42";
    private static final String SECONDS = "60";
    private static final int FEWER = 20 / 3, OF_A_JOB = 3;
    /**
     * Of a checkpoint that is attacked: it is complete, or the attack is named (77), or was seen as damage or loss (65,
     * 66, 74).
     */
    private static final Set<Integer> OUTCOMES = Set.of(0, 65, 66, 74, 77);

    private AttackedJob attacked;

    /** A try is a checkpoint; a job has some of them, since its start takes longer. */
    @Tag("slow")
    @Test
    void aMemberOfTheGroupExchangesCheckpoints() throws Exception {
        OrdinaryUser.requireRoot();
        try {
            Tries.noneWins("a member of the group exchanges a running job's checkpoints", FEWER, number -> {
                if (attacked == null) {
                    attacked = new AttackedJob();
                }
                attacked.checkpoint();
                boolean last = number + 1 == Tries.count(FEWER);
                if (last || number % OF_A_JOB == OF_A_JOB - 1) {
                    boolean leaked = attacked.ends();
                    attacked.close();
                    attacked = null;
                    return leaked;
                }
                return false;
            });
        } finally {
            if (attacked != null) {
                attacked.close();
            }
        }
    }

    /** With two processes of the group's member, which exchange its next checkpoints with a directory of his. */
    private static final class AttackedJob implements AutoCloseable {
        private final ProcessTreeJob tree = new ProcessTreeJob(List.of("sh", "-c", PROGRAM));
        private final Path images = Files.createDirectory(tree.file("images"));
        private final List<Attacker> attackers = new ArrayList<>();
        private final long inode;

        AttackedJob() throws Exception {
            Path evil = OrdinaryUser.STRANGER.own(Files.createDirectory(images.resolve(".evil")));
            OrdinaryUser.STRANGER.own(Files.createFile(evil.resolve("his")));
            Files.setAttribute(images, "unix:gid", OrdinaryUser.STRANGER.uid());
            Files.setAttribute(images, "unix:mode", 0770);
            Files.setAttribute(tree.file("."), "unix:mode", 0755);
            Path programs = Files.createDirectory(tree.file("programs"));
            inode = (long) Files.getAttribute(evil, "unix:ino");
            tree.start("--shared-dir");
            tree.await("started");
            String swap = OrdinaryUser.program("swap_names", programs).toString();
            attackers.add(Attacker.start(swap, SECONDS, images.resolve("ckpt-0001").toString(), evil.toString()));
            attackers.add(Attacker.start(swap, SECONDS, images.resolve("ckpt-0002").toString(), evil.toString(),
                    images.toString()));
        }

        void checkpoint() throws Exception {
            int code = tree.checkpoint();
            assertTrue(OUTCOMES.contains(code), () -> code + "\n" + tree.text());
        }

        /** Right. @return whether anything of the job's is in the attacker's directory */
        boolean ends() throws Exception {
            stopAttackers();
            tree.finish();
            assertTrue(tree.output().endsWith("result 42\n"), tree::text);
            assertEquals(OrdinaryUser.STRANGER.uid(), ownerOf(images, inode), "his directory is still his");
            tree.good();
            return leaked(images, inode);
        }

        private void stopAttackers() throws Exception {
            for (Attacker attacker : attackers) {
                attacker.close();
            }
            attackers.clear();
        }

        @Override
        public void close() throws Exception {
            stopAttackers();
            tree.close();
        }
    }

    private static Path find(Path images, long inode) throws IOException {
        try (var entries = Files.list(images)) {
            for (Path entry : entries.toList()) {
                if ((long) Files.getAttribute(entry, "unix:ino", LinkOption.NOFOLLOW_LINKS) == inode) {
                    return entry;
                }
            }
        }
        throw new AssertionError("the attacker's directory is gone: it was removed as if it were the job's");
    }

    private static int ownerOf(Path images, long inode) throws IOException {
        return (int) Files.getAttribute(find(images, inode), "unix:uid");
    }

    private static boolean leaked(Path images, long inode) throws IOException {
        try (var files = Files.list(find(images, inode))) {
            return !files.map(file -> file.getFileName().toString()).toList().equals(List.of("his"));
        }
    }
}
