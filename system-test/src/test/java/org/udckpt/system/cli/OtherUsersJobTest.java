package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * Whether a job of a name runs in a directory that one may not look into cannot be told: that is what is said, and not
 * that there is none.
 */
@Timeout(120)
class OtherUsersJobTest {
    @TempDir
    Path temp;

    @Test
    void permissionDeniedIsSaidWithTheOwner() throws Exception {
        Path closed = Files.createDirectory(temp.resolve("closed"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("---------")));
        boolean root = RuntimeDirectory.uid() == 0;
        // Root may look everywhere, but for the two capabilities that it has for that (capabilities(7)).
        String without = root ? "set -- setpriv --bounding-set=-dac_override,-dac_read_search -- \"$@\"" : ":";
        assumeTrue(
                !root || new ProcessBuilder("setpriv", "--bounding-set=-dac_override", "true").start().waitFor() == 0,
                "setpriv(1) cannot be used");
        try (Udckpts udckpt = new Udckpts(temp)) {
            for (String verb : new String[]{"checkpoint", "status"}) {
                Udckpts.Result result = udckpt
                        .startLimited(without, Map.of("UDCKPT_RUNTIME", closed.toString()), verb, "job").await(60);
                assertEquals(77, result.code(), verb + ": " + result);
                assertTrue(result.errors().contains(closed + " belongs to user " + Files.getOwner(closed)),
                        result.toString());
            }
        } finally {
            Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
        }
    }
}
