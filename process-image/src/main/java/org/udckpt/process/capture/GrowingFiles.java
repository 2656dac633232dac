package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.FileLeases;
import org.udckpt.process.files.FileObservers;
import org.udckpt.process.files.FileRequest;
import org.udckpt.process.files.FilesRefused;
import org.udckpt.process.files.Prefixes;
import org.udckpt.process.files.QuietFiles;

/**
 * Looks, before a job is stopped, for large files that it is about to make larger: what they hold is summed up while it
 * still runs.
 */
public final class GrowingFiles {
    private static final int ACCESS = 3;

    private GrowingFiles() {}

    static Prefixes read(CaptureRequest request) {
        return read(request.roots().stream().map(CaptureRequest.Root::pid).toList(), request.files(),
                request.leases());
    }

    /**
     * Takes as long as it takes to read such files.
     *
     * @param roots the first processes of the trees that are to be captured, as this process numbers them
     * @param files that are captured with them
     * @param leases that there are
     */
    public static Prefixes read(Collection<Integer> roots, FileRequest files, FileLeases leases) {
        Prefixes prefixes = new Prefixes(files);
        FileObservers observers = new FileObservers(leases);
        List<String> written = new ArrayList<>();
        roots.forEach(root -> process(root, observers, written));
        QuietFiles quiet = new QuietFiles(observers);
        for (String file : written) {
            try {
                prefixes.consider(file, quiet);
            } catch (LinuxError | FilesRefused unreadable) {
                continue; // its process has ended; or the stop will say why it cannot be read
            }
        }
        return prefixes;
    }

    /** Finds what is open for writing, and who would hear of its being read. */
    private static void process(int pid, FileObservers observers, List<String> written) {
        try {
            int task = Proc.living(pid);
            for (int fd : Proc.descriptors(task)) {
                String info = Proc.text("/proc/" + task + "/fdinfo/" + fd);
                observers.see(info);
                int flags = Integer.parseInt(Proc.field(info, "flags:"), 8);
                if ((flags & ACCESS) != Syscall.O_RDONLY && (flags & (Syscall.O_APPEND | Syscall.O_PATH)) == 0) {
                    written.add("/proc/" + task + "/fd/" + fd);
                }
            }
            for (int child : Proc.children(pid)) {
                process(child, observers, written);
            }
        } catch (LinuxError ended) {
            return; // or may not be looked at: the stop will say so
        }
    }
}
