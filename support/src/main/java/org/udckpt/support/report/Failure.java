package org.udckpt.support.report;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.concurrent.TimeoutException;
import org.udckpt.image.FileErrors;
import org.udckpt.image.ImageError;
import org.udckpt.image.storage.Errno;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.UntrustedPath;
import org.udckpt.process.capture.CaptureFailed;
import org.udckpt.process.capture.CaptureRefused;
import org.udckpt.process.files.FileTorn;
import org.udckpt.process.files.FilesChanged;
import org.udckpt.process.files.FilesInUse;
import org.udckpt.process.files.FilesRefused;
import org.udckpt.process.names.NameRefused;
import org.udckpt.process.restore.RestoreException;
import org.udckpt.process.trace.TraceeGone;
import org.udckpt.ud.LibraryException;

/** An error that ends a command: what failed, where and what to do, in one line, with its exit code. */
public final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ExitCode code;

    public Failure(ExitCode code, String message) {
        super(message);
        this.code = code;
    }

    public Failure(ExitCode code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public ExitCode code() {
        return code;
    }

    /** The failure that a caught exception amounts to; {@code what} says what was being done. */
    public static Failure of(String what, Throwable cause) {
        return switch (cause) {
            case Failure failure -> failure;
            case ImageError.NoSpace e -> new Failure(ExitCode.NO_SPACE, what + ": " + e.getMessage(), e);
            case ImageError.TooOld e -> new Failure(ExitCode.UNSUPPORTED, what + ": " + e.getMessage(), e);
            case ImageError.TooNew e -> new Failure(ExitCode.UNSUPPORTED, what + ": " + e.getMessage(), e);
            case ImageError.NoKey e -> new Failure(ExitCode.PERMISSION, what + ": " + e.getMessage(), e);
            case ImageError.Untrusted e -> new Failure(ExitCode.PERMISSION, what + ": " + e.getMessage(), e);
            case ImageError.Busy e -> new Failure(ExitCode.BUSY, what + ": " + e.getMessage(), e);
            case ImageError e -> new Failure(ExitCode.CORRUPT, what + ": " + e.getMessage(), e);
            case UntrustedPath e -> new Failure(ExitCode.PERMISSION, what + ": " + e.getMessage(), e);
            case FilesRefused e -> new Failure(ExitCode.UNSUPPORTED, what + ": " + e.getMessage(), e);
            case FileTorn e -> new Failure(ExitCode.BUSY,
                    what + ": " + e.getMessage() + (e.savedInNextStop() ? "; try again" : ""), e);
            case FilesInUse e -> new Failure(ExitCode.BUSY, what + ": " + e.getMessage(), e);
            case FilesChanged e -> new Failure(ExitCode.IO, what + ": " + e.getMessage(), e);
            case CaptureRefused e -> new Failure(ExitCode.UNSUPPORTED, what + ": " + e.getMessage(), e);
            case CaptureFailed e -> new Failure(ExitCode.BUSY, what + ": " + e.getMessage() + "; try again", e);
            case TraceeGone e -> new Failure(ExitCode.BUSY, what + ": " + e.getMessage() + "; try again", e);
            case LinuxError e when e.errno() == LinuxError.ESRCH -> new Failure(ExitCode.BUSY,
                    what + ": " + e.getMessage() + ": the process has ended; try again", e);
            case LinuxError e when e.errno() == LinuxError.EACCES -> new Failure(ExitCode.PERMISSION,
                    what + ": " + e.getMessage(), e);
            case LinuxError e when e.isNoSpace() -> new Failure(ExitCode.NO_SPACE, what + ": " + e.getMessage(), e);
            case LinuxError e -> new Failure(ExitCode.IO, what + ": " + e.getMessage(), e);
            case RestoreException e -> new Failure(switch (e.reason()) {
                case UNSUPPORTED -> ExitCode.UNSUPPORTED;
                case FORBIDDEN -> ExitCode.PERMISSION;
                case NO_SPACE -> ExitCode.NO_SPACE;
                case IN_USE -> ExitCode.BUSY;
                case FILE_CHANGED, FAILED -> ExitCode.IO;
            }, what + ": " + e.getMessage(), e);
            case NameRefused e -> new Failure(switch (e.reason()) {
                case IN_USE -> ExitCode.BUSY;
                case ANOTHERS -> ExitCode.PERMISSION;
                case NO_DIRECTORY -> ExitCode.IO;
            }, what + ": " + e.getMessage(), e);
            case LibraryException e -> new Failure(
                    String.valueOf(e.getMessage()).contains("no answer to") ? ExitCode.TIMEOUT : ExitCode.IO,
                    what + ": " + e.getMessage(), e);
            case AccessDeniedException e -> new Failure(ExitCode.PERMISSION,
                    what + ": permission denied: " + e.getFile(), e);
            case NotDirectoryException e -> new Failure(ExitCode.IO, what + ": not a directory: " + e.getFile(), e);
            case NoSuchFileException e -> new Failure(ExitCode.NOT_FOUND, what + ": no such file: " + e.getFile(), e);
            case InvalidPathException e -> new Failure(ExitCode.USAGE, what + ": the path " + e.getInput()
                    + " is not UTF-8; rename it, or use a link with a UTF-8 name");
            case IOException e when Errno.isNoSpace(e) -> new Failure(ExitCode.NO_SPACE,
                    what + ": " + FileErrors.text(e) + (saysMore(e) ? "" : "; free some space there"), e);
            case IOException e when Errno.isTooLarge(e) -> new Failure(ExitCode.UNSUPPORTED,
                    what + ": " + FileErrors.text(e) + ": " + Shortage.fileSize(), e);
            case ClosedChannelException e -> new Failure(ExitCode.IO, what + ": the connection is closed", e);
            case IOException e -> new Failure(ExitCode.IO, what + ": " + FileErrors.text(e), e);
            case TimeoutException e -> new Failure(ExitCode.TIMEOUT,
                    what + ": timed out" + (e.getMessage() == null ? "" : ": " + e.getMessage()), e);
            case OutOfMemoryError e -> new Failure(ExitCode.UNSUPPORTED, what + ": " + Shortage.text(e), e);
            case java.util.concurrent.ExecutionException e when e.getCause() != null -> of(what, e.getCause());
            case java.io.UncheckedIOException e -> of(what, e.getCause());
            default -> new Failure(ExitCode.INTERNAL, what + ": " + cause, cause);
        };
    }

    /** Whether it is in words of ours, which name the way out, and not only what the kernel said of a file. */
    private static boolean saysMore(IOException e) {
        return e.getCause() != null && !(e instanceof FileSystemException);
    }
}
