package org.udckpt.image;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;

/**
 * What exceptions about files say to people. Those of which Java knows the kind have the file's name as their only
 * text.
 */
public final class FileErrors {
    private FileErrors() {}

    /** Why it failed, without the file's name where the exception keeps the two apart. */
    public static String reason(IOException error) {
        return switch (error) {
            case FileSystemException e when e.getReason() != null -> e.getReason();
            case NoSuchFileException _ -> "no such file or directory";
            case AccessDeniedException _ -> "permission denied";
            case FileAlreadyExistsException _ -> "it exists already";
            case NotDirectoryException _ -> "not a directory";
            case DirectoryNotEmptyException _ -> "the directory is not empty";
            case NotLinkException _ -> "not a symbolic link";
            case FileSystemLoopException _ -> "a loop of symbolic links";
            case IOException e when e.getMessage() == null || e instanceof FileSystemException -> e.getClass()
                    .getSimpleName();
            default -> error.getMessage();
        };
    }

    /** File and reason. */
    public static String text(IOException error) {
        if (error instanceof FileSystemException e && e.getReason() == null && e.getFile() != null) {
            return e.getFile() + (e.getOtherFile() == null ? "" : " -> " + e.getOtherFile()) + ": " + reason(e);
        }
        return error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
    }
}
