package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.names.OwnDirectories;

/** What a {@link Rollback} would do with a job's files as they are now. Nothing is changed, and nothing is made. */
public final class Forecast {
    private final Folders folders;
    private final Map<Long, MemorySource> contents = new HashMap<>();
    private final List<RolledBack> found = new ArrayList<>();
    /** Paths of regular files that would be others. */
    private final Set<String> replaced = new HashSet<>();

    private Forecast(List<MemorySource> memory, Folders folders) {
        this.folders = folders;
        memory.stream().filter(source -> !source.process()).forEach(source -> contents.put(source.id(), source));
    }

    /**
     * Looks at all files of an image; those whose inode does not tell it are read and compared.
     *
     * @return nothing about files that would be left as they are; {@link RolledBack#kept} is null
     * @throws FilesChanged when something stands in the way
     * @throws FilesInUse   when a process that runs writes to one of them
     */
    public static List<RolledBack> of(JobImage image, List<MemorySource> memory, RollbackRequest request) {
        try (Folders folders = new Folders(request.root(), new OwnDirectories(image))) {
            FileWriters.refuse(image, request, folders);
            Forecast forecast = new Forecast(memory, folders);
            List<JobFile.HardLink> links = new ArrayList<>();
            ImageFiles.visit(image, request, forecast.new Looking(links));
            links.forEach(forecast::hardLink); // of files that are known by then
            return List.copyOf(forecast.found);
        }
    }

    private final class Looking implements ImageFiles.Visitor {
        private final List<JobFile.HardLink> links;

        Looking(List<JobFile.HardLink> links) {
            this.links = links;
        }

        @Override
        public void directory(JobFile.Directory directory) {
            if (!folders.has(directory.path())) {
                found.add(RolledBack.from(null, directory.path(), 0, directory.modifiedNs()));
            }
        }

        @Override
        public void regular(JobFile.RegularFile file) {
            Folders.Place place = folders.existing(file.path());
            SavedContent content = new SavedContent(contents.get(file.id()), file.size(), file.path());
            if (place == null
                    || RegularFiles.difference(file, place, place.stat(), content) == RegularFiles.Difference.CONTENT) {
                replaced.add(file.path());
                found.add(RolledBack.from(place == null ? null : place.stat(), file.path(), file.size(),
                        file.modifiedNs()));
            }
        }

        @Override
        public void symbolicLink(JobFile.SymbolicLink link) {
            Folders.Place place = folders.existing(link.path());
            if (place == null || !Rollback.isThere(link, place)) {
                found.add(RolledBack.from(place == null ? null : place.stat(), link.path(), link.target().length(), 0));
            }
        }

        @Override
        public void hardLink(JobFile.HardLink link) {
            links.add(link);
        }

        @Override
        public void tail(OpenFile file) {
            Folders.Place place = folders.existing(file.path());
            Files.Stat now = place == null ? null : place.stat();
            if (Rollback.isLonger(now, file)) {
                found.add(new RolledBack(file.path(), RolledBack.What.CUT, now.size(), now.modified(), file.size(),
                        file.modifiedNs(), null));
            }
        }

        @Override
        public void madeSince(String path, Files.Stat stat) {
            found.add(new RolledBack(path, RolledBack.What.MADE_SINCE, stat.size(), stat.modified(), 0, 0, null));
        }
    }

    private void hardLink(JobFile.HardLink link) {
        Folders.Place place = folders.existing(link.path());
        Folders.Place of = folders.existing(link.of());
        Files.Stat now = place == null ? null : place.stat();
        Files.Stat wanted = of == null ? null : of.stat();
        if (now == null || wanted == null || replaced.contains(link.of()) || now.inode() != wanted.inode()
                || now.device() != wanted.device()) {
            found.add(RolledBack.from(now, link.path(), wanted == null ? 0 : wanted.size(),
                    wanted == null ? 0 : wanted.modified()));
        }
    }
}
