package org.udckpt.store;

import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** Checks before a job starts, not hours later at its first checkpoint, that its checkpoints can be stored. */
public final class ImageDirectoryCheck {
    private ImageDirectoryCheck() {}

    /**
     * Creates no directory: a job that is never checkpointed leaves none behind.
     *
     * @param wanted checkpoints were asked for: a problem is an error then, else a warning
     */
    public static void check(Settings settings, Path directory, boolean wanted) {
        Path existing = directory;
        while (!Files.exists(existing)) {
            existing = existing.getParent();
        }
        String problem = null;
        ExitCode code = ExitCode.PERMISSION;
        if (!Files.isDirectory(existing)) {
            problem = existing + " is not a directory";
            code = ExitCode.IO;
        } else if (existing.startsWith("/proc") || existing.startsWith("/sys") || !Files.isWritable(existing)) {
            problem = existing + " cannot be written";
        }
        if (problem == null) {
            checkTrust(settings, directory, wanted);
            return;
        }
        String text = "checkpoints cannot be stored in " + directory + ": " + problem
                + "; choose another directory with --dir";
        if (wanted) {
            throw new Failure(code, text);
        }
        Messages.warn(text);
    }

    private static void checkTrust(Settings settings, Path directory, boolean wanted) {
        try {
            ImageTrust.check(settings, directory);
        } catch (Failure refused) {
            if (wanted) {
                throw refused;
            }
            Messages.warn(refused.getMessage());
        }
    }
}
