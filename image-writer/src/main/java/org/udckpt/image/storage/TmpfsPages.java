package org.udckpt.image.storage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Whether files of a tmpfs have small pages: it has none of its own accord that are larger, unless it was mounted with {@code huge=} (tmpfs(5)). */
final class TmpfsPages {
    private TmpfsPages() { }

    /** False where it is no tmpfs, where its files have larger pages anyway, and where it can not be told. */
    static boolean small(Path file) {
        try {
            return small(Files.readAllLines(Path.of("/proc/self/mountinfo")), file.toRealPath());
        } catch (IOException e) {
            return false;
        }
    }

    /** @param mounts as in proc_pid_mountinfo(5): a later one of the same place hides the one before. @param file a real path */
    static boolean small(List<String> mounts, Path file) {
        String best = null;
        int deepest = -1;
        for (String mount : mounts) {
            Path point = Path.of(unescaped(mount.split(" ")[4]));
            if (file.startsWith(point) && point.getNameCount() >= deepest) {
                deepest = point.getNameCount();
                best = mount;
            }
        }
        String[] of = best == null ? new String[0] : best.substring(best.indexOf(" - ") + 3).split(" "); // type, source, options
        return of.length == 3 && of[0].equals("tmpfs") && List.of(of[2].split(",")).stream().noneMatch(option -> option.startsWith("huge=") && !option.equals("huge=never"));
    }

    /** Spaces, tabs, newlines and backslashes are octal there. */
    private static String unescaped(String text) {
        return text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\");
    }
}
