package org.udckpt.process.restore;

import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.SharedMemory;

/**
 * An open file stays writable when its mode forbids it ({@code open(..., O_CREAT | O_RDWR, 0400)}); to open it again
 * its owner has to permit that for a while. Closing puts the modes back, once.
 */
final class FileModes implements AutoCloseable {
    private static final int CHMOD = 90, OWNER = 0600;

    private record Opened(int file, String path, int mode) {}

    private final Map<String, Opened> before = new LinkedHashMap<>();

    FileModes(JobImage image, NamedFiles names) {
        long user = User.id();
        for (var object : image.objects()) {
            switch (object) {
                case OpenFile file when user != 0 && file.backing() == 0 -> permit(file.path(), user, names);
                case SharedMemory memory when user != 0 && memory.kind() == MemoryKind.DISK_FILE -> permit(
                        memory.path(), user, names);
                default -> {
                }
            }
        }
    }

    private void permit(String path, long user, NamedFiles names) {
        if (before.containsKey(path)) {
            return;
        }
        int file;
        try {
            file = names.open("", path, Syscall.O_PATH);
        } catch (LinuxError missing) {
            return; // FileChecks says so
        }
        Files.Stat stat = Files.stat(file);
        if (stat.type() == Files.Stat.REGULAR && stat.uid() == user && (stat.mode() & OWNER) != OWNER) {
            before.put(path, new Opened(file, path, stat.mode() & 07777));
            chmod(before.get(path), stat.mode() & 07777 | OWNER);
        } else {
            Files.close(file);
        }
    }

    /** By its descriptor, whatever has the name by then. */
    private static void chmod(Opened opened, int mode) {
        LinuxError.check(Syscall.call(CHMOD, Scratch.string("/proc/self/fd/" + opened.file), mode),
                "chmod " + opened.path);
    }

    @Override
    public void close() {
        before.values().forEach(opened -> {
            chmod(opened, opened.mode);
            Files.close(opened.file);
        });
        before.clear();
    }
}
