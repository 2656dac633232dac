package org.udckpt.inspect.debug;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The terminal that controls this process, which a person's debugger takes; the job's streams may be the same one, or
 * anything else.
 */
public final class ControllingTerminal {
    static final Path DEVICE = Path.of("/dev/tty");
    private static final Path INPUT = Path.of("/proc/self/fd/0");

    private ControllingTerminal() {}

    /** Whether there is one: /dev/tty cannot be opened otherwise (tty(4)). */
    public static boolean there() {
        try (FileChannel _ = FileChannel.open(DEVICE, StandardOpenOption.READ)) {
            return true;
        } catch (IOException none) {
            return false;
        }
    }

    /** Whether standard input is a terminal. */
    public static boolean isInput() {
        try {
            return Files.readSymbolicLink(INPUT).toString().matches("/dev/(pts/\\d+|tty.*|console)");
        } catch (IOException closed) {
            return false;
        }
    }
}
