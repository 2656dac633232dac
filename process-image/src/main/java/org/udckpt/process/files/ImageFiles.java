package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MountViews;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.SharedMemory;

/**
 * All files that a restart from an image has to do with, for who puts them back ({@link Rollback}) and for who says
 * what would be ({@link Forecast}).
 */
final class ImageFiles {
    /** Hears of each file once. */
    interface Visitor {
        void directory(JobFile.Directory directory);

        void regular(JobFile.RegularFile file);

        void symbolicLink(JobFile.SymbolicLink link);

        void hardLink(JobFile.HardLink link);

        /** The content is not in the image; the restore cuts it back (it looks whether it is too short, too). */
        void tail(OpenFile file);

        /** A file that was made after the checkpoint, in a place that the user had named. */
        void madeSince(String path, Files.Stat stat);
    }

    private ImageFiles() {}

    static void visit(JobImage image, RollbackRequest request, Visitor visitor) {
        Set<String> known = new HashSet<>();
        for (JobFile file : image.files()) {
            if (!(file instanceof JobFile.Named)) {
                known.add(file.path());
            }
            if (!request.elsewhere().contains(file.path())) {
                switch (file) {
                    case JobFile.Directory directory -> visitor.directory(directory);
                    case JobFile.RegularFile one -> visitor.regular(one);
                    case JobFile.SymbolicLink link -> visitor.symbolicLink(link);
                    case JobFile.HardLink link -> visitor.hardLink(link);
                    case JobFile.LeftOut _,JobFile.Named _ -> {
                    }
                }
            }
        }
        for (JobFile.RegularFile file : mappedInOldImages(image, known)) {
            known.add(file.path());
            visitor.regular(file);
        }
        MountViews views = MountViews.of(image);
        for (var object : image.objects()) {
            if (object instanceof OpenFile file && file.backing() == 0 && (file.flags() & 3) != Syscall.O_RDONLY) {
                String path = views.outsideOf(file.id(), file.path()); // null: it comes with its file system
                if (path != null && !isSaved(image, path) && known.add("open " + path)) {
                    visitor.tail(file.at(path));
                }
            }
        }
        if (request.root().isEmpty()) {
            new MadeSince(image.files(), known, request).visit(visitor::madeSince);
        }
    }

    private static boolean isSaved(JobImage image, String path) {
        return image.files().stream().anyMatch(file -> file instanceof JobFile.RegularFile && file.path().equals(path)
                || file instanceof JobFile.HardLink && file.path().equals(path));
    }

    /**
     * Images that were made before there was a table of files hold them as shared memory; so do those of ordinary users
     * for what only the mapping shows.
     */
    private static List<JobFile.RegularFile> mappedInOldImages(JobImage image, Set<String> known) {
        List<JobFile.RegularFile> files = new ArrayList<>();
        for (var object : image.objects()) {
            if (object instanceof SharedMemory memory && memory.kind() == MemoryKind.DISK_FILE
                    && !known.contains(memory.path())) {
                files.add(new JobFile.RegularFile(memory.id(), memory.path(), memory.size(), memory.mode(),
                        memory.uid(), memory.gid(), 0, 0, 0, 0, JobFile.Cut.COPIED));
            }
        }
        return files;
    }
}
