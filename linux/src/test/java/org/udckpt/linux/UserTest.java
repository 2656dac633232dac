package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class UserTest {
    /** As a container of an ordinary user has it. */
    private static final String OWN_ONLY = "     61001      61001          1\n";

    @Test
    void whoHasNoNumberIsTheOneOfProcSys() throws Exception {
        try (InputStream file = java.nio.file.Files.newInputStream(Path.of("/proc/sys/kernel/overflowuid"))) {
            String number = new String(file.readNBytes(64), StandardCharsets.US_ASCII).strip();
            assertTrue(number.length() > 1, number);
            assertEquals(Integer.parseInt(number), User.unmapped(OWN_ONLY));
        }
    }

    @Test
    void everybodyHasANumberWithoutUserNamespace() {
        assertEquals(-1, User.unmapped("         0          0 4294967295\n"));
    }

    /** In a user namespace that has a number for this user alone: there the root directory's owner has none. */
    @Test
    void rootIsTrustedWhereHeHasNoNumber() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(List.of("unshare", "--user", "--map-user=61001", java, "-cp",
                System.getProperty("java.class.path"), "--enable-native-access=ALL-UNNAMED", Owner.class.getName(),
                "/proc/1")).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), printed);
        assertEquals("true 61001\n", printed);
    }

    static final class Owner {
        private Owner() {}

        /** @param args a directory of somebody without a number here */
        public static void main(String[] args) throws Exception {
            int owner = (int) java.nio.file.Files.getAttribute(Path.of(args[0]), "unix:uid");
            System.out.println(User.isTrusted(owner) + " " + User.id());
        }
    }
}
