package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.attack.AsUser;
import org.udckpt.attack.Attacker;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.attack.Tries;

/**
 * Exports (a core file, metrics) to a directory that everybody can write to, where an attacker replaces each new name
 * by a link.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class NewFileAttackTest {
    private static final int OWNER = 61001; // as OrdinaryUser.OWNER: annotations take constants only

    @ParameterizedTest
    @ValueSource(ints = {0, OWNER})
    void aLinkInThePlaceOfANewFile(int victim) throws Exception {
        OrdinaryUser.requireRoot();
        Path place = java.nio.file.Files.createTempDirectory("udckpt-attack");
        Path shared = java.nio.file.Files.createDirectory(place.resolve("shared"));
        Path precious = java.nio.file.Files.writeString(place.resolve("precious"), "precious");
        java.nio.file.Files.setAttribute(precious, "unix:uid", victim);
        java.nio.file.Files.setAttribute(place, "unix:mode", 0755);
        java.nio.file.Files.setAttribute(shared, "unix:mode", 0777);
        int[] written = {0};
        try (Attacker attacker = Attacker.start(OrdinaryUser.program("link_into", place).toString(), "600",
                shared.toString(), ".export", precious.toString())) {
            Tries.noneWins("a link in the place of an exported file, uid " + victim, _ -> {
                boolean whole = AsUser.call(victim, () -> export(shared));
                Path export = shared.resolve("export");
                boolean taken = whole && !(java.nio.file.Files.isRegularFile(export, LinkOption.NOFOLLOW_LINKS)
                        && java.nio.file.Files.readString(export).equals("memory"));
                written[0] += whole ? 1 : 0;
                java.nio.file.Files.deleteIfExists(export);
                return taken || !java.nio.file.Files.readString(precious).equals("precious");
            });
            assertTrue(attacker.end() > 0, "no name was replaced");
        } finally {
            try (Folder above = Folder.open(place.getParent().toRealPath().toString())) {
                above.removeTree(place.getFileName().toString());
            }
        }
        assertEquals(0, (int) Syscall.call(Syscall.GETEUID), "only that thread was another user");
    }

    /** False: it says that it was attacked. */
    private static boolean export(Path shared) throws Exception {
        try (Folder folder = Folder.reach(shared.toString(), Trust.ANY);
                NewFile file = NewFile.beside(folder, "export")) {
            try (FileChannel channel = Files.channel(file.descriptor(), StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap("memory".getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
            }
            file.replaces("export");
            return true;
        } catch (UntrustedPath exchanged) {
            return false;
        } catch (LinuxError gone) {
            assertEquals(LinuxError.ENOENT, gone.errno(), gone.getMessage()); // between his unlink and his link
            return false;
        }
    }
}
