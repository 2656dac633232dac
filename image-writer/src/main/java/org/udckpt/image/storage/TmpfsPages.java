package org.udckpt.image.storage;

import java.util.List;
import org.udckpt.linux.FileSystemFacts;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/**
 * Whether files of a tmpfs have small pages: it has none of its own accord that are larger, unless it was mounted with
 * {@code huge=} (tmpfs(5)).
 */
final class TmpfsPages {
    private TmpfsPages() {}

    /** False where it is no tmpfs, where its files have larger pages anyway, and where it can not be told. */
    static boolean small(int descriptor) {
        try {
            return FileSystemFacts.of(descriptor).isTmpfs()
                    && small(lines("mountinfo"), mount(lines("fdinfo/" + descriptor)));
        } catch (LinuxError e) {
            return false;
        }
    }

    /** Names of mounts need not be UTF-8. */
    private static List<String> lines(String file) {
        return Proc.text("/proc/self/" + file).lines().toList();
    }

    /** @param info of a descriptor, proc_pid_fdinfo(5). @return the number of its mount; "" where it is not told */
    private static String mount(List<String> info) {
        return info.stream().filter(line -> line.startsWith("mnt_id:"))
                .map(line -> line.substring("mnt_id:".length()).strip()).findFirst().orElse("");
    }

    /** @param mounts as in proc_pid_mountinfo(5). @param id of one of them */
    static boolean small(List<String> mounts, String id) {
        for (String mount : mounts) {
            if (mount.substring(0, mount.indexOf(' ')).equals(id)) {
                String[] of = mount.substring(mount.indexOf(" - ") + 3).split(" "); // type, source, options
                return of.length == 3 && of[0].equals("tmpfs") && List.of(of[2].split(",")).stream()
                        .noneMatch(option -> option.startsWith("huge=") && !option.equals("huge=never"));
            }
        }
        return false;
    }
}
