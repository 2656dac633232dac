package org.udckpt.process.files;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject.OpenFile;

/**
 * Whether a process that runs writes to a file that a restart would put back: it would go on writing to what is put aside, or to what is cut off beneath it.
 * Who only reads (tail -f) is left alone. Ordinary users see their own processes only. Processes in other network namespaces count as those of other hosts,
 * of which a restart cannot know either: who restarts a job elsewhere sees to it that they end.
 */
final class FileWriters implements ImageFiles.Visitor {
    /** A process that was killed lets go of what it had in a moment. */
    private static final long ENDING_NS = 1_000_000_000L, PAUSE_NS = 20_000_000L;
    private static final int ACCESS = 3, OWN = (int) ProcessHandle.current().pid();

    private static final String NETWORK = Files.readLink("/proc/self/ns/net");

    private record InUse(String path, String writer) {}

    private final Folders folders;
    private final long[] streams;
    /** By device and inode. */
    private final Map<String, String> paths = new HashMap<>();
    private final Set<String> names = new HashSet<>();

    private FileWriters(Folders folders, long[] streams) {
        this.folders = folders;
        this.streams = streams;
    }

    /**
     * To be asked before anything is changed.
     *
     * @throws FilesInUse naming the first such file, and who has it
     */
    static void refuse(JobImage image, RollbackRequest request, Folders folders) {
        if (!request.root().isEmpty()) {
            return; // a copy of the job has files of its own
        }
        FileWriters writers = new FileWriters(folders, request.streams());
        ImageFiles.visit(image, request, writers);
        InUse found = writers.find();
        for (long until = System.nanoTime() + ENDING_NS; found != null && System.nanoTime() < until; found = writers.find()) {
            LockSupport.parkNanos(PAUSE_NS);
        }
        if (found != null) {
            throw new FilesInUse(found.path, found.writer);
        }
    }

    private void add(String path) {
        Folders.Place place = folders.existing(path);
        Files.Stat now = place == null ? null : place.stat();
        if (now != null && now.type() == Files.Stat.REGULAR && !isStream(now)) {
            paths.putIfAbsent(Candidate.key(now), path);
            names.add(name(path));
        }
    }

    private boolean isStream(Files.Stat file) {
        for (int i = 0; i + 1 < streams.length; i += 2) {
            if (streams[i] == file.device() && streams[i + 1] == file.inode()) {
                return true;
            }
        }
        return false;
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private InUse find() {
        if (paths.isEmpty()) {
            return null;
        }
        for (int pid : Proc.numbers("/proc")) {
            try {
                String path = pid == OWN || !NETWORK.equals(Files.readLink("/proc/" + pid + "/ns/net")) ? null : written(pid);
                if (path != null) {
                    return new InUse(path, "process " + pid + " (" + Proc.text("/proc/" + pid + "/comm").strip() + ")");
                }
            } catch (LinuxError gone) {
                if (gone.errno() != LinuxError.ENOENT && gone.errno() != LinuxError.ESRCH && gone.errno() != LinuxError.EACCES && gone.errno() != LinuxError.EPERM) {
                    throw gone; // else it has ended, or is another user's
                }
            }
        }
        return null;
    }

    private String written(int pid) {
        for (int fd : Proc.descriptors(pid)) {
            String through = "/proc/" + pid + "/fd/" + fd;
            String link = Files.readLink(through);
            if (link == null || !names.contains(name(link))) {
                continue; // no file system is asked for other names
            }
            Files.Stat open = Files.tryStat(through);
            String path = open == null ? null : paths.get(Candidate.key(open));
            if (path != null && (Integer.parseInt(Proc.field(Proc.text("/proc/" + pid + "/fdinfo/" + fd), "flags:"), 8) & ACCESS) != 0) {
                return path;
            }
        }
        return mapped(pid);
    }

    /** Shared and writable; its descriptor may be closed. */
    private String mapped(int pid) {
        for (String line : Proc.text("/proc/" + pid + "/maps").split("\n")) {
            int at = line.indexOf('/');
            int permissions = line.indexOf(' ') + 1;
            if (at > 0 && line.charAt(permissions + 1) == 'w' && line.charAt(permissions + 3) == 's' && names.contains(name(line.substring(at)))) {
                Files.Stat file = Files.tryStat("/proc/" + pid + "/root" + line.substring(at));
                String path = file == null ? null : paths.get(Candidate.key(file));
                if (path != null) {
                    return path;
                }
            }
        }
        return null;
    }

    @Override
    public void directory(JobFile.Directory directory) {}

    @Override
    public void regular(JobFile.RegularFile file) {
        add(file.path());
    }

    @Override
    public void symbolicLink(JobFile.SymbolicLink link) {}

    @Override
    public void hardLink(JobFile.HardLink link) {
        add(link.path());
    }

    @Override
    public void tail(OpenFile file) {
        add(file.path());
    }

    @Override
    public void madeSince(String path, Files.Stat stat) {
        add(path);
    }
}
