package org.udckpt.image.storage;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.udckpt.image.ImageError;
import org.udckpt.linux.LinuxError;

/**
 * Gives I/O errors their file, and recognizes errors by their errno. Of an errno Java keeps only strerror's text, in
 * the user's language, so this class compares with the C library's text rather than with English words. Errors of our
 * own system calls have the errno itself, in a {@link LinuxError} that is their cause.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
public final class Errno {
    private static final int EFBIG = 27;

    private Errno() {}

    /** Loaded when the first error happens, not before. */
    private static final class Texts {
        static final List<String> FULL = List.of(text(LinuxError.ENOSPC), text(LinuxError.EDQUOT));
        static final List<String> TOO_LARGE = List.of(text(EFBIG));
    }

    /** Whether the file system or the user's quota is full (ENOSPC, EDQUOT). */
    public static boolean isNoSpace(IOException error) {
        return is(error, LinuxError::isNoSpace, Texts.FULL);
    }

    /** Whether a file would be larger than it may be (EFBIG): by RLIMIT_FSIZE, or by its file system. */
    public static boolean isTooLarge(IOException error) {
        return is(error, cause -> cause.errno() == EFBIG, Texts.TOO_LARGE);
    }

    private static boolean is(IOException error, Predicate<LinuxError> kind, List<String> texts) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof LinuxError known) {
                return kind.test(known);
            }
            if (cause instanceof IOException && texts.stream().anyMatch(String.valueOf(cause.getMessage())::endsWith)) {
                return true;
            }
        }
        return false;
    }

    /** strerror(3). */
    public static String text(int errno) {
        Linker linker = Linker.nativeLinker();
        MemorySegment strerror = linker.defaultLookup().find("strerror").orElseThrow();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = (MemorySegment) linker.downcallHandle(strerror,
                    FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT)).invokeExact(errno);
            return text.reinterpret(1024, arena, null).getString(0);
        } catch (Throwable e) {
            throw new AssertionError("strerror", e);
        }
    }

    /** The same error if it names its file and kind already, else one that does. */
    public static IOException named(Path file, long offset, IOException error) {
        if (error instanceof ImageError || error instanceof FileAlreadyExistsException
                || error instanceof NoSuchFileException) {
            return error;
        }
        if (isNoSpace(error)) {
            return new ImageError.NoSpace(file, offset, error);
        }
        if (error instanceof FileSystemException) {
            return error;
        }
        return new IOException(file + (offset >= 0 ? " at offset 0x" + Long.toHexString(offset) : "") + ": "
                + error.getMessage(), error);
    }
}
