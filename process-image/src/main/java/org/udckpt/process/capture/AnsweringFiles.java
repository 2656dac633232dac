package org.udckpt.process.capture;

import java.time.Duration;
import org.udckpt.process.files.FilesRefused;
import org.udckpt.process.files.Patience;
import org.udckpt.process.linux.Files;
import org.udckpt.process.linux.LinuxError;
import org.udckpt.process.linux.Proc;

/**
 * Asks, while the job still runs, for each file that it has open, since the stop asks again: a server that is gone would keep the job standing for as
 * long as it does not answer, and nothing could be done about it then.
 */
final class AnsweringFiles {
    private static final Duration MOST = Duration.ofSeconds(10);

    private final Patience patience = new Patience(MOST, at -> "the file system of " + at + " has not answered for " + MOST.toSeconds()
            + " s (is its server gone?); no checkpoint can be made while the job has something open there");

    private AnsweringFiles() {}

    /** @throws FilesRefused one of them does not answer, which it names */
    static void ask(CaptureRequest request) {
        AnsweringFiles files = new AnsweringFiles();
        files.patience.with(() -> request.roots().forEach(root -> files.process(root.pid())));
    }

    private void process(int pid) {
        try {
            for (int fd : Proc.descriptors(pid)) {
                file(pid, "fd/" + fd);
            }
            file(pid, "cwd");
            for (int child : Proc.children(pid)) {
                process(child);
            }
        } catch (LinuxError ended) {
            return; // or may not be looked at: the stop will say so
        }
    }

    private void file(int pid, String link) {
        String through = "/proc/" + pid + "/" + link;
        String path = Files.readLink(through);
        if (path != null && path.startsWith("/")) {
            patience.at(path);
            Files.tryStat(through);
        }
    }
}
