package org.udckpt.process.capture;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.kinds.base.StoppedProcess;

/**
 * Finds files whose name was removed by another name that they have (link(2)). That may be anywhere on the file system:
 * it is looked for in the directory of the first, where locks, mail and rotated logs have it, and in those above.
 */
final class OtherNames {
    /** Of a directory, some 20,000 names: longer ones are not looked through while the job stands. */
    private static final long MOST_BYTES = 640 << 10;
    /** Directories that are looked through, one above the other. */
    private static final int MOST_LEVELS = 4;

    /** By the files' keys; "": none was found. */
    private final Map<String, String> found = new HashMap<>();

    /**
     * @param process that has the file
     * @param gone the name that was removed
     * @param key of the file, as {@code keys} has it from its attributes
     * @return null: none was found
     */
    String of(QuietFiles quiet, StoppedProcess process, String gone, String key, Function<Files.Stat, String> keys) {
        String other = found.computeIfAbsent(key, _ -> find(quiet, process, gone, key, keys));
        return other.isEmpty() ? null : other;
    }

    private static String find(QuietFiles quiet, StoppedProcess process, String gone, String key,
            Function<Files.Stat, String> keys) {
        String directory = gone;
        String found = "";
        for (int level = 0; level < MOST_LEVELS && found.isEmpty() && directory.length() > 1; level++) {
            directory = directory.substring(0, Math.max(1, directory.lastIndexOf('/')));
            found = findIn(quiet, process, directory, key, keys);
        }
        return found;
    }

    private static String findIn(QuietFiles quiet, StoppedProcess process, String directory, String key,
            Function<Files.Stat, String> keys) {
        long opened = quiet.tryOpen(process.mounts() + directory, directory);
        if (opened == -LinuxError.ENOENT || opened == -LinuxError.EACCES || opened == -LinuxError.ENOTDIR) {
            return "";
        }
        try (Folder folder = Folder.of(directory, (int) LinuxError.check(opened, "open " + directory))) {
            return folder.stat().size() > MOST_BYTES ? "" : folder.names().stream()
                    .filter(name -> folder.stat(name) instanceof Files.Stat stat && keys.apply(stat).equals(key))
                    .findFirst().map(folder::below).orElse("");
        }
    }
}
