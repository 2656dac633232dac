package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MountViews;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.SharedMemory;

/**
 * The programs and libraries that the job maps: an image holds the pages that it changed, and expects the rest on disk.
 */
final class MappedFiles {
    private MappedFiles() {}

    /**
     * {@code objects} and one record per file.
     *
     * @param lastId the highest that anything has in the image
     * @param shared bytes up to which those are included of which memory is mapped shared and read-only
     */
    static List<KernelObject> add(List<KernelObject> objects, List<JobFile> files, List<Region> regions,
            MountViews views, long lastId, long shared) {
        Set<String> paths = new TreeSet<>();
        Set<String> saved = new TreeSet<>(); // their contents are put back before they are mapped
        files.stream().filter(JobFile.RegularFile.class::isInstance).map(JobFile::path).forEach(saved::add);
        for (KernelObject object : objects) {
            if (object instanceof SharedMemory memory
                    && (memory.kind() == MemoryKind.NAMED_FILE || memory.kind() == MemoryKind.DISK_FILE)) {
                saved.add(memory.path());
            }
        }
        for (Region region : regions) {
            if (region.backing() == 0 && region.path().startsWith("/") && !region.path().equals("/anon_hugepage")) {
                String path = views.outside(region.pid(), region.path());
                if (path != null && !saved.contains(path) && (!region.shared() || isSmall(region, path, shared))) {
                    paths.add(path);
                }
            }
        }
        List<KernelObject> all = new ArrayList<>(objects);
        long id = lastId;
        for (String path : paths) {
            Files.Stat stat = stat(path);
            if (stat.type() == Files.Stat.REGULAR) {
                all.add(new MappedFile(++id, path, stat.size(), stat.modified()));
            }
        }
        return all;
    }

    private static boolean isSmall(Region region, String path, long most) {
        return most > 0 && !region.mayBeWritable() && stat(path).size() <= most;
    }

    private static Files.Stat stat(String path) {
        try {
            return Files.stat(path);
        } catch (LinuxError gone) {
            throw new CaptureFailed(path + ", which the job maps, disappeared during the checkpoint: "
                    + LinuxError.name(gone.errno()));
        }
    }
}
