package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class FileErrorsTest {
    @Test
    void eachNamesTheFileAndTheReason() {
        assertEquals("/x: not a directory", FileErrors.text(new NotDirectoryException("/x")));
        assertEquals("/x: permission denied", FileErrors.text(new AccessDeniedException("/x")));
        assertEquals("/x: no such file or directory", FileErrors.text(new NoSuchFileException("/x")));
        assertEquals("/x -> /y: it exists already", FileErrors.text(new FileAlreadyExistsException("/x", "/y", null)));
        assertEquals("/x: FileSystemException", FileErrors.text(new FileSystemException("/x")));
        assertEquals("/x: Stale file handle",
                FileErrors.text(new FileSystemException("/x", null, "Stale file handle")));
        assertEquals("torn", FileErrors.text(new IOException("torn")));
        assertEquals("IOException", FileErrors.text(new IOException()));
    }
}
