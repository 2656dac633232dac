package org.udckpt.image.key;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Where the key of an encrypted image comes from. */
@Timeout(120)
class EncryptionSecretTest {
    private static final String HEX = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    @TempDir
    Path temp;

    @Test
    void theKeyComesFromAFileOrACommand() throws Exception {
        Path file = temp.resolve("key");
        Files.writeString(file, HEX + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertArrayEquals(EncryptionSecret.from("file:" + file).bytes(),
                EncryptionSecret.from("command:cat " + file).bytes());
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        assertTrue(assertThrows(IOException.class, () -> EncryptionSecret.from("file:" + file)).getMessage()
                .contains("chmod 600"));
        assertTrue(assertThrows(IOException.class, () -> EncryptionSecret.from("file:" + temp.resolve("none")))
                .getMessage().contains("does not exist"));
        assertTrue(assertThrows(IOException.class, () -> EncryptionSecret.from("command:exit 3")).getMessage()
                .contains("code 3"));
        IOException bad = assertThrows(IOException.class, () -> EncryptionSecret.from("command:echo 0011secret"));
        assertTrue(bad.getMessage().contains("64 hexadecimal digits") && !bad.getMessage().contains("0011secret"),
                bad.getMessage());
        for (String source : List.of("", "file:", "command:", "/etc/key", "env:X", HEX)) {
            String said =
                    assertThrows(IllegalArgumentException.class, () -> EncryptionSecret.from(source)).getMessage();
            assertFalse(source.length() > 8 && said.contains(source), said);
        }
    }

    @Test
    void aCommandThatGoesOnIsEnded() throws Exception {
        String mark = "31." + ProcessHandle.current().pid(); // an argument of sleep(1) that nobody else has
        for (String command : List.of("sleep " + mark, "echo " + HEX + "; sleep " + mark, "yes",
                "sleep " + mark + " & sleep " + mark)) {
            IOException error = assertThrows(IOException.class, () -> KeyCommand.output(command, 1), command);
            assertFalse(error.getMessage().contains(HEX), error.getMessage());
            assertTrue(
                    command.equals("yes") || error.getMessage()
                            .contains("did not end in 1 s and was killed: it has to print the key and end"),
                    error.getMessage());
        }
        Thread.sleep(200);
        assertEquals(0, ProcessHandle.allProcesses()
                .filter(p -> p.info().arguments().map(a -> List.of(a).contains(mark)).orElse(false)).count());
    }
}
