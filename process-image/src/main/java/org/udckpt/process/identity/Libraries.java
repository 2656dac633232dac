package org.udckpt.process.identity;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.FoundFile;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PathWriters;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.FileContents;
import org.udckpt.process.files.FileTorn;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemorySource;

/**
 * The contents of the programs and libraries that a job maps, for its image. They are read while the job goes on, for
 * whoever installs another version gives its name to another file.
 */
public final class Libraries implements AutoCloseable {
    public static final Libraries NONE = new Libraries();

    private record Saved(FileContents contents, String path, Files.Stat then) {}

    private final List<Saved> saved = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private String replaced;

    private Libraries() {}

    /**
     * Opens each {@link MappedFile} of the image.
     *
     * @param mappedInodes of each path that was mapped at the stop
     */
    public static Libraries open(JobImage image, Map<String, Long> mappedInodes) {
        Libraries libraries = new Libraries();
        ReadHindrances hindrances = new ReadHindrances(image);
        try (PathWriters paths = new PathWriters()) {
            for (var object : image.objects()) {
                if (object instanceof MappedFile file) {
                    libraries.open(file, mappedInodes.get(file.path()), paths, hindrances);
                }
            }
            return libraries;
        } catch (RuntimeException | Error e) {
            libraries.close();
            throw e;
        }
    }

    private void open(MappedFile file, Long inode, PathWriters paths, ReadHindrances hindrances) {
        try (FoundFile found = paths.find(file.path())) {
            if (!found.regular() || inode != null && found.stat().inode() != inode) {
                replaced = file.path();
                return;
            }
            String hindrance = hindrances.of(found);
            if (hindrance.isEmpty()) {
                save(file, found);
            } else {
                notes.add(file.path() + ", which the job maps, is not in the image: " + hindrance);
            }
        } catch (LinuxError error) {
            if (error.errno() == LinuxError.ENOENT || error.errno() == LinuxError.ENOTDIR) {
                replaced = file.path();
            } else {
                notes.add(file.path() + ", which the job maps, is not in the image, since it cannot be read: "
                        + LinuxError.name(error.errno()));
            }
        }
    }

    private void save(MappedFile file, FoundFile found) {
        int fd = found.reopen(Syscall.O_RDONLY | Syscall.O_NONBLOCK);
        try {
            saved.add(new Saved(new FileContents(file.id(), file.path(), fd, found.stat().size()), file.path(),
                    found.stat()));
        } catch (RuntimeException | Error e) {
            Files.close(fd);
            throw e;
        }
    }

    /** One for each file that is not empty. */
    public List<MemorySource> sources() {
        return saved.stream().map(Saved::contents).filter(contents -> !contents.isEmpty())
                .map(MemorySource.class::cast).toList();
    }

    /** What is not in the image, and why. */
    public List<String> notes() {
        return notes;
    }

    /**
     * When all has been read.
     *
     * @throws FileTorn a file was written to or replaced since the stop
     */
    public void verify() {
        for (Saved one : saved) {
            Files.Stat now = Files.stat(one.contents.descriptor());
            if (now.size() != one.then.size() || now.modified() != one.then.modified()) {
                throw new FileTorn(one.path + ", which the job maps, was written to while it was saved", false);
            }
        }
        if (replaced != null) {
            throw new FileTorn(replaced + ", which the job maps, was replaced while the checkpoint was taken", true);
        }
    }

    @Override
    public void close() {
        saved.forEach(one -> one.contents.close());
        saved.clear();
    }
}
