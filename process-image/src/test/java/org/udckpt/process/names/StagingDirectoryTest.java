package org.udckpt.process.names;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.Folder;

/** What a restart left that was killed is removed by the next one, and nothing else. */
@Timeout(60)
class StagingDirectoryTest {
    private static final FileTime LONG_AGO = FileTime.from(Instant.now().minusSeconds(3600));

    @TempDir
    Path directory;

    private String make(String name, FileTime changed) throws IOException {
        Path made = Files.createDirectory(directory.resolve(name));
        Files.createFile(made.resolve("left"));
        Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwx------"));
        Files.setLastModifiedTime(made, changed);
        return name;
    }

    /** A member of the group could have given the name to something else of this user's. */
    @Test
    void whereOthersCanRenameNothingGoes() throws IOException {
        String left = make(".udckpt-0123456789abcdef", LONG_AGO);
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwx---"));
        try (Folder parent = Folder.open(directory.toRealPath().toString())) {
            StagingDirectory.in(parent).close();
            assertTrue(Files.exists(directory.resolve(left).resolve("left")));
        }
    }

    @Test
    void leftOnesGo() throws IOException {
        make(".udckpt-0123456789abcdef", LONG_AGO);
        String young = make(".udckpt-0123456789abcde0", FileTime.from(Instant.now()));
        String another = make(".udckpt-names", LONG_AGO);
        String locked = make(".udckpt-0123456789abcde1", LONG_AGO);
        try (Folder parent = Folder.open(directory.toRealPath().toString()); Folder used = parent.sub(locked)) {
            assertTrue(used.tryLock());
            try (StagingDirectory staging = StagingDirectory.in(parent)) {
                Path own = Path.of(staging.folder().path());
                Files.setLastModifiedTime(own, LONG_AGO);
                StagingDirectory.in(parent).close(); // the first has locked its own
                assertEquals(Stream.of(young, locked, another, own.getFileName().toString()).sorted().toList(),
                        parent.names().stream().sorted().toList());
            }
        }
    }
}
