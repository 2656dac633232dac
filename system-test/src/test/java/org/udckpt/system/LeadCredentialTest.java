package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.transport.CredentialFile;

@Timeout(180)
class LeadCredentialTest {
    @Tag("slow")
    @Test
    void theCredentialIsInTheLeadsRuntimeDirectoryWhileTheJobRuns(@TempDir Path directory) throws Exception {
        try (LocalAgents job = new LocalAgents(directory, directory.resolve("err").toFile())) {
            Path file = job.runtime().resolve(CredentialFile.NAME);
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
            CredentialFile.read(file);
            job.finish();
            assertEquals(0, job.end(), () -> directory + "/err");
            assertFalse(Files.exists(file));
        }
    }
}
