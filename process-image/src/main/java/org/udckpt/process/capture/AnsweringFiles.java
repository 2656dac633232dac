package org.udckpt.process.capture;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.cuda.CudaDriver;
import org.udckpt.process.files.FilesRefused;
import org.udckpt.process.files.TimedFileIo;

/**
 * Asks, while the job still runs, for each file that it has open, since the stop asks again: a server that is gone
 * would keep the job standing for as long as it does not answer, and nothing could be done about it then.
 */
public final class AnsweringFiles {
    private static final String LIBRARY = CudaDriver.NAME.substring(0, CudaDriver.NAME.length() - 1);
    private static final Duration MOST = Duration.ofSeconds(10);

    /** The last question, which may be waiting for its answer still: no second thread is to wait for the same. */
    private static AnsweringFiles last;

    private final Map<Integer, String> cuda = new HashMap<>();
    private final TimedFileIo timed = new TimedFileIo(MOST, AnsweringFiles::refusal);

    private AnsweringFiles() {}

    /**
     * Asks for what these processes and all below them have open, have mapped to write to, and work in.
     *
     * @return the path of each process's {@link CudaDriver#NAME}, of those that have it mapped
     * @throws FilesRefused one of them does not answer, which it names
     */
    public static synchronized Map<Integer, String> ask(Collection<Integer> pids) {
        if (last != null && !last.timed.ended()) {
            throw new FilesRefused(refusal(last.timed.at()));
        }
        AnsweringFiles files = new AnsweringFiles();
        last = files;
        files.timed.with(() -> pids.forEach(files::process));
        return files.cuda;
    }

    private static String refusal(String path) {
        return "the file system of " + path + " did not respond for " + MOST.toSeconds()
                + " s (is its server gone?); no checkpoint is possible while the job has files open there";
    }

    private void process(int pid) {
        try {
            int task = Proc.living(pid);
            for (int fd : Proc.descriptors(task)) {
                file(task, "fd/" + fd);
            }
            file(task, "cwd");
            for (String line : Proc.text("/proc/" + task + "/maps").split("\n")) {
                // what is mapped may not be open any more
                mapping(line);
                driver(pid, line);
            }
            for (int child : Proc.children(pid)) {
                process(child);
            }
        } catch (LinuxError ended) {
            return; // or may not be looked at: the stop will say so
        }
    }

    /**
     * Of a file that the process shares and may write to: the stop looks at that one by its name.
     *
     * @param line of proc_pid_maps(5)
     */
    private void mapping(String line) {
        int path = line.indexOf('/');
        int permissions = line.indexOf(' ') + 1;
        if (path > 0 && line.charAt(permissions + 1) == 'w' && line.charAt(permissions + 3) == 's'
                && !line.startsWith("/dev/", path) && !line.endsWith("(deleted)")) {
            timed.at(line.substring(path));
            Files.tryStat(line.substring(path));
        }
    }

    /** The kernel resolves links: of the name that programs ask for, the version may be all that is left. */
    private void driver(int pid, String line) {
        int name = line.lastIndexOf('/') + 1;
        if (line.startsWith(LIBRARY, name)) {
            cuda.putIfAbsent(pid, line.substring(line.indexOf('/')));
        }
    }

    private void file(int pid, String link) {
        String through = "/proc/" + pid + "/" + link;
        String path = Files.readLink(through);
        if (path != null && path.startsWith("/")) {
            timed.at(path);
            Files.tryStat(through);
        }
    }
}
