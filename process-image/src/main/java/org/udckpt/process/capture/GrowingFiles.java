package org.udckpt.process.capture;

import org.udckpt.process.files.FileRequest;
import org.udckpt.process.files.Prefixes;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;

/** Looks, before a job is stopped, for large files that it is about to make larger: what they hold is summed up while it still runs. */
final class GrowingFiles {
    private static final int ACCESS = 3;

    private GrowingFiles() {}

    static Prefixes read(CaptureRequest request) {
        FileRequest files = request.files();
        Prefixes prefixes = new Prefixes(files);
        request.roots().forEach(root -> process(root.pid(), prefixes));
        return prefixes;
    }

    private static void process(int pid, Prefixes prefixes) {
        try {
            for (int fd : Proc.descriptors(pid)) {
                int flags = Integer.parseInt(Proc.field(Proc.text("/proc/" + pid + "/fdinfo/" + fd), "flags:"), 8);
                if ((flags & ACCESS) != Syscall.O_RDONLY && (flags & (Syscall.O_APPEND | Syscall.O_PATH)) == 0) {
                    prefixes.consider("/proc/" + pid + "/fd/" + fd);
                }
            }
            for (int child : Proc.children(pid)) {
                process(child, prefixes);
            }
        } catch (LinuxError ended) {
            return; // or may not be looked at: the stop will say so
        }
    }
}
