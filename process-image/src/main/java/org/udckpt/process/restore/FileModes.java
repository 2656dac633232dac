package org.udckpt.process.restore;

import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject.OpenFile;
import org.udckpt.process.model.KernelObject.SharedMemory;

/**
 * An open file stays writable when its mode forbids it ({@code open(..., O_CREAT | O_RDWR, 0400)}); to open it again its
 * owner has to permit that for a while. Closing puts the modes back.
 */
final class FileModes implements AutoCloseable {
    private static final int CHMOD = 90, OWNER = 0600;

    private final Map<String, Integer> before = new LinkedHashMap<>();

    FileModes(JobImage image) {
        long user = Syscall.call(107 /* geteuid */);
        for (var object : image.objects()) {
            switch (object) {
                case OpenFile file when user != 0 && file.backing() == 0 -> permit(file.path(), user);
                case SharedMemory memory when user != 0 -> {
                    switch (memory.kind()) {
                        case NAMED_FILE, DISK_FILE -> permit(memory.path(), user);
                        case ANONYMOUS, MEMFD, SYSV, DELETED_FILE -> { }
                    }
                }
                default -> { }
            }
        }
    }

    private void permit(String path, long user) {
        Files.Stat stat;
        try {
            stat = Files.stat(path);
        } catch (LinuxError missing) {
            return; // FileChecks says so, or it is made anew
        }
        if (stat.uid() == user && (stat.mode() & OWNER) != OWNER) {
            chmod(path, stat.mode() & 07777 | OWNER);
            before.putIfAbsent(path, stat.mode() & 07777);
        }
    }

    private static void chmod(String path, int mode) {
        LinuxError.check(Syscall.call(CHMOD, Scratch.string(path), mode), "chmod " + path);
    }

    @Override
    public void close() {
        before.forEach(FileModes::chmod);
    }
}
