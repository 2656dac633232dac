package org.udckpt.process.restore;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.identity.ContentDigest;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.SharedMemory;

/**
 * The programs and libraries whose content is in an image ({@code --with-libraries}), for a system on which they are
 * missing or others. The processes map files without a name that hold it (memfd_create(2)).
 */
final class SavedLibraries {
    static final SavedLibraries NONE = new SavedLibraries(Map.of(), Map.of(), true);
    private static final int MFD_CLOEXEC = 1, MFD_EXEC = 16;

    private final Map<String, MappedFile> files;
    private final Map<Long, MemorySource> contents;
    private final boolean onlyLook;

    private SavedLibraries(Map<String, MappedFile> files, Map<Long, MemorySource> contents, boolean onlyLook) {
        this.files = files;
        this.contents = contents;
        this.onlyLook = onlyLook;
    }

    static SavedLibraries of(JobImage image, Collection<MemorySource> memory) {
        return of(image, memory, false);
    }

    /** Nothing is read. */
    static SavedLibraries look(JobImage image, Collection<MemorySource> memory) {
        return of(image, memory, true);
    }

    private static SavedLibraries of(JobImage image, Collection<MemorySource> memory, boolean onlyLook) {
        Map<Long, MemorySource> contents = memory.stream().filter(source -> !source.process())
                .collect(Collectors.toMap(MemorySource::id, source -> source));
        Map<String, MappedFile> files = new HashMap<>();
        for (var object : image.objects()) {
            if (object instanceof MappedFile file && contents.containsKey(file.id())) {
                files.put(file.path(), file);
            }
        }
        return new SavedLibraries(files, contents, onlyLook);
    }

    boolean has(FileIdentity file) {
        MappedFile saved = files.get(file.path());
        return saved != null && saved.size() == file.size();
    }

    /** A descriptor with the content of a file that {@link #has} says is here; of nothing, where it only looks. */
    int open(FileIdentity file) {
        MappedFile saved = files.get(file.path());
        String name = file.path().substring(file.path().lastIndexOf('/') + 1);
        String what = "memory for " + file.path();
        int fd = create(name, what);
        try {
            if (!onlyLook) {
                fill(saved, file, fd);
            }
            LinuxError.check(Syscall.call(Syscall.FCHMOD, fd, file.mode() & 0777), "chmod of " + what);
            // a program may not be open for writing
            return Files.reopen(fd, Syscall.O_RDONLY);
        } finally {
            Files.close(fd);
        }
    }

    /** Where vm.memfd_noexec is 1, one that may be executed has to be asked for; before Linux 6.3 nobody can. */
    private static int create(String name, String what) {
        long fd = Syscall.call(Syscall.MEMFD_CREATE, Scratch.string(name), MFD_CLOEXEC | MFD_EXEC);
        if (fd == -LinuxError.EINVAL) {
            fd = Syscall.call(Syscall.MEMFD_CREATE, Scratch.string(name), MFD_CLOEXEC);
        }
        return (int) LinuxError.check(fd, what + " (EACCES: sysctl vm.memfd_noexec=1 permits it)");
    }

    private void fill(MappedFile saved, FileIdentity file, int fd) {
        LinuxError.check(Syscall.call(Syscall.FTRUNCATE, fd, saved.size()), "set the size of " + file.path());
        try (Pages pages = new Pages()) {
            int own = (int) LinuxError.check(Syscall.call(Syscall.FCNTL, fd, 1030 /* F_DUPFD_CLOEXEC */, 0), "dup");
            pages.fillFile(contents.get(saved.id()), own,
                    new SharedMemory(saved.id(), MemoryKind.MEMFD, file.path(), saved.size(), 0, 0, 0, 0, 0, 0));
            pages.await();
        }
        if (file.digest() != null && !Arrays.equals(ContentDigest.of(fd, file.path()).sha256(), file.digest())) {
            throw new RestoreException(RestoreException.Reason.FILE_CHANGED, "file " + file.path()
                    + ", which the job maps: its content in the image is another than at the checkpoint");
        }
    }
}
