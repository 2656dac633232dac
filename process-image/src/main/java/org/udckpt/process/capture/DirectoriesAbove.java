package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.udckpt.linux.Files;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.SharedMemory;

/**
 * Owners and modes of the directories above all that a restart puts back or makes again: those that have gone by then
 * are made as they were.
 */
final class DirectoriesAbove {
    private static final int OTHERS_WRITE = 02, STICKY = 01000;

    private DirectoriesAbove() {}

    /** Outermost first. @param users of the job's processes */
    static List<JobName> of(List<KernelObject> objects, List<JobFile> files, List<JobName> names, Set<Integer> users) {
        Set<String> directories = new TreeSet<>();
        for (KernelObject object : objects) {
            if (object instanceof SharedMemory memory) {
                switch (memory.kind()) {
                    case NAMED_FILE, DISK_FILE, DELETED_FILE -> add(directories, memory.path());
                    case ANONYMOUS, MEMFD, SYSV, MOUNTED_FILE -> {
                    }
                }
            }
        }
        for (JobFile file : files) {
            switch (file) {
                case JobFile.RegularFile _,JobFile.HardLink _,JobFile.SymbolicLink _,JobFile.Directory _ -> add(
                        directories, file.path());
                case JobFile.LeftOut _,JobFile.Named _ -> {
                }
            }
        }
        names.forEach(name -> add(directories, name.path()));
        List<JobName> found = new ArrayList<>();
        for (String directory : directories) {
            Files.Stat stat = Files.tryStat(directory);
            if (stat != null && stat.type() == Files.Stat.DIRECTORY) {
                boolean open = (stat.mode() & OTHERS_WRITE) != 0 && (stat.mode() & STICKY) == 0;
                found.add(new JobName.Directory(directory, stat.mode() & 07777, stat.uid(), stat.gid(),
                        users.contains(stat.uid()) && !open));
            }
        }
        return found;
    }

    private static void add(Set<String> directories, String path) {
        for (int slash = path.lastIndexOf('/'); slash > 0 && directories.add(path.substring(0, slash));
                slash = path.lastIndexOf('/', slash - 1)) {
            // each above the one before
        }
    }
}
