package org.udckpt.image.storage;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.udckpt.image.ImageError;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NotRegularFile;
import org.udckpt.linux.UntrustedPath;

/**
 * Turns a failed system call into the exception that readers and writers of images expect: kinds that callers tell
 * apart have exceptions of their own.
 */
final class FileFailure {
    private static final int ENOTEMPTY = 39;

    private FileFailure() {}

    static IOException of(Path path, RuntimeException failure) {
        return switch (failure) {
            case NotRegularFile e -> new ImageError.Corrupt(path, -1, "not a regular file; remove it", e);
            case UntrustedPath e -> new ImageError.Untrusted(path, e);
            case LinuxError e -> of(path, e);
            default -> throw failure;
        };
    }

    private static IOException of(Path path, LinuxError error) {
        return switch (error.errno()) {
            case LinuxError.ENOENT -> caused(new NoSuchFileException(path.toString()), error);
            case LinuxError.EEXIST -> caused(new FileAlreadyExistsException(path.toString()), error);
            case LinuxError.EACCES, LinuxError.EPERM -> caused(new AccessDeniedException(path.toString()), error);
            case LinuxError.ENOTDIR -> caused(new NotDirectoryException(path.toString()), error);
            case LinuxError.ELOOP -> new ImageError.Corrupt(path, -1, "a symbolic link, or below one, which is not "
                    + "followed: give the directory that it leads to", error);
            case ENOTEMPTY -> caused(new DirectoryNotEmptyException(path.toString()), error);
            default -> error.isNoSpace() ? new ImageError.NoSpace(path, -1, error)
                    : new IOException(error.getMessage(), error);
        };
    }

    private static IOException caused(IOException failure, LinuxError cause) {
        failure.initCause(cause);
        return failure;
    }
}
