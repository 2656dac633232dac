package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.attack.OrdinaryUser;

/**
 * A program that runs in an overlay as containers' starters make it: of a directory of the machine and of a tmpfs that
 * nobody sees any more. What it changed comes with the image, and the directory has to be what it was.
 */
@Tag("slow")
@Timeout(300)
class OverlaysTest {
    private static final String LOWER = """
            exec unshare --mount --propagation private sh -ec '
                mkdir @/low @/merged && cp /bin/sleep @/low/rest && echo machine >@/low/text && echo gone >@/low/gone
                mount -t tmpfs layers @/merged && mkdir @/merged/u @/merged/w
                mount -t overlay run -o lowerdir=@/low,upperdir=@/merged/u,workdir=@/merged/w /mnt
                umount -l @/merged && cd /mnt && echo and job >>text && rm gone
                ./rest 1000 & echo started
                until [ -e @/finish ]; do ./rest 0.1; done
                kill $! && [ ! -e gone ] && cat text && cat @/low/text && echo result'""";

    private static void refused(ProcessTreeJob tree, Path named) throws Exception {
        assertEquals(74, tree.refusedRestart(), tree::refusal);
        assertTrue(tree.refusal().contains(named.toString()), tree::refusal);
    }

    @Test
    void whatAnOverlayShowsComesBack() throws Exception {
        OrdinaryUser.requireRoot(); // who can mount without more
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("sh", "-c", LOWER))) {
            tree.start();
            tree.await("started");
            tree.checkpointAndKill();
            tree.restart();
            tree.await("");
            tree.checkpointAndKill();
            Path program = tree.file("low/rest");
            byte[] before = Files.readAllBytes(program), changed = before.clone();
            changed[changed.length / 2]++;
            Files.write(program, changed);
            refused(tree, program);
            Files.write(program, before);
            Path lower = tree.file("low"), elsewhere = tree.file("elsewhere");
            Files.move(lower, elsewhere);
            refused(tree, lower);
            Files.createSymbolicLink(lower, elsewhere); // whoever may rename the directory could have made it
            refused(tree, lower);
            Files.delete(lower);
            Files.move(elsewhere, lower);
            tree.restart();
            tree.finish();
            assertTrue(tree.output().contains("machine\nand job\nmachine\nresult"), tree::text);
            tree.good();
        }
    }
}
