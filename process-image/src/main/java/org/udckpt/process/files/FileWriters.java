package org.udckpt.process.files;

import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.names.Holders;
import org.udckpt.process.names.OpenFiles;

/**
 * Whether a process that runs writes to a file that a restart would put back: it would go on writing to what is put
 * aside, or to what is cut off beneath it. Who only reads (tail -f) is left alone. Ordinary users see their own
 * processes only. Of other hosts a restart cannot know either: who restarts a job elsewhere sees to it that they end.
 */
final class FileWriters implements ImageFiles.Visitor {
    private final Folders folders;
    private final long[] streams;
    private final OpenFiles open = new OpenFiles();
    /** By their paths. */
    private final Map<String, Files.Stat> files = new LinkedHashMap<>();

    private FileWriters(Folders folders, long[] streams) {
        this.folders = folders;
        this.streams = streams;
    }

    /**
     * To be asked before anything is changed.
     *
     * @throws FilesInUse naming the first such file and its holder
     */
    static void refuse(JobImage image, RollbackRequest request, Folders folders) {
        if (!request.root().isEmpty()) {
            return; // a copy of the job has files of its own
        }
        FileWriters writers = new FileWriters(folders, request.streams());
        ImageFiles.visit(image, request, writers);
        writers.files.forEach(writers::refuse);
    }

    private void refuse(String path, Files.Stat file) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        String writer = open.writer(name, file);
        if (writer != null) {
            writer = Holders.still(() -> {
                open.forget();
                return open.writer(name, file);
            });
        }
        if (writer != null) {
            throw new FilesInUse(path, writer);
        }
    }

    private void add(String path) {
        Folders.Place place = folders.existing(path);
        Files.Stat now = place == null ? null : place.stat();
        if (now != null && now.type() == Files.Stat.REGULAR && !isStream(now)) {
            files.put(path, now);
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
