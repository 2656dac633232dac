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
import org.udckpt.image.ImageError;

/**
 * Gives I/O errors their file, and tells a full file system apart. Java keeps of the errno only strerror's text, in
 * the user's language, so that text is asked of the C library rather than written down in English.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
public final class Errno {
    private static final int ENOSPC = 28;
    private static final int EDQUOT = 122;

    private Errno() {}

    /** Loaded when the first error happens, not before. */
    private static final class Texts {
        static final List<String> FULL = List.of(text(ENOSPC), text(EDQUOT));
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

    /** The error as it is where it already names its file and kind, else one that does. */
    public static IOException named(Path file, long offset, IOException error) {
        if (error instanceof ImageError || error instanceof FileAlreadyExistsException
                || error instanceof NoSuchFileException) {
            return error;
        }
        String text = String.valueOf(error.getMessage());
        if (Texts.FULL.stream().anyMatch(text::endsWith)) {
            return new ImageError.NoSpace(file, offset, error);
        }
        if (error instanceof FileSystemException) {
            return error;
        }
        return new IOException(file + (offset >= 0 ? " at offset 0x" + Long.toHexString(offset) : "") + ": " + text,
                error);
    }
}
