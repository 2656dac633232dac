package org.udckpt.process.restore;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.udckpt.linux.Access;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountLine;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.NewNames;
import org.udckpt.process.kinds.deleted.DeletedWorkingDirectory;
import org.udckpt.process.kinds.memory.SharedMemoryKind;
import org.udckpt.process.kinds.named.DirectoryOrDevice;
import org.udckpt.process.kinds.named.RootDirectory;
import org.udckpt.process.kinds.named.ThreadDirectory;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.JobMount;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;

/**
 * Are the files that the job uses still what they were? Asked before anything is made; what was appended after the
 * checkpoint is cut off at the very end, when the restore is certain.
 */
final class FileChecks {
    private static final int ACCESS = 3;
    /** Mounted anew for each restored job. */
    private static final List<String> OWN = List.of("/proc", "/dev/pts", "/dev/mqueue");

    private final JobImage image;
    private final Consumer<String> warn;
    private final NamedFiles names;
    private final Set<String> saved;
    /** What {@link VerifiedFiles} looks at. */
    private final Set<String> identified;
    private final List<OpenFile> files;

    /** @param warn hears of what is odd, and no hindrance */
    FileChecks(JobImage image, Consumer<String> warn, NamedFiles names) {
        this.image = image;
        this.names = names;
        this.warn = warn;
        this.files = image.objects().stream().filter(OpenFile.class::isInstance).map(OpenFile.class::cast)
                .filter(file -> file.backing() == 0).toList();
        this.identified = image.identities().stream().map(FileIdentity::path).collect(Collectors.toSet());
        this.saved = image.files().stream().filter(JobFile.RegularFile.class::isInstance).map(JobFile::path)
                .collect(Collectors.toSet());
    }

    /** When files have been put back. */
    void check() {
        check(Set.of());
    }

    /** Before files are put back: what will be is not missed. */
    void checkBefore() {
        Set<String> made = new HashSet<>();
        image.files().forEach(file -> addWithDirectories(made, file.path()));
        check(made);
    }

    private static void addWithDirectories(Set<String> paths, String file) {
        for (String path = file; path.length() > 1 && paths.add(path);
                path = path.substring(0, Math.max(1, path.lastIndexOf('/')))) {
            // each directory above it, too
        }
    }

    /** @param except paths that are put back later */
    private void check(Set<String> except) {
        Set<String> written = new HashSet<>();
        files.stream().filter(FileChecks::writable).forEach(file -> written.add(outside(file)));
        for (OpenFile file : files) {
            String path = outside(file);
            if (path == null) {
                continue; // it comes with its file system
            }
            if (!saved.contains(path)) { // else its content is in the image
                check(file, path, written.contains(path));
            } else {
                puttable(path, file.flags());
            }
        }
        bySizeAndTime(except);
        Set<Integer> nameless = DeletedWorkingDirectory.of(image);
        Stream.concat(image.processes().stream().filter(process -> !nameless.contains(process.pid()))
                .map(one -> names.views().outside(one.pid(), one.workingDirectory())),
                image.objects().stream().filter(ThreadDirectory.class::isInstance).map(ThreadDirectory.class::cast)
                        .map(one -> names.views().outside(one.pid(), one.path())))
                .filter(Objects::nonNull).distinct()
                .filter(path -> looked(path, except)).forEach(path -> directory(path, "works in", "working"));
        image.objects().stream().filter(RootDirectory.class::isInstance).map(RootDirectory.class::cast)
                .map(one -> names.views().outside(one.pid(), one.path())).filter(Objects::nonNull)
                .distinct().filter(path -> looked(path, except)).forEach(this::root);
        image.objects().stream().filter(JobMount.class::isInstance).map(JobMount.class::cast)
                .filter(one -> one.tree() != 0 && !names.views().isMachines(one)).map(JobMount::outside)
                .filter(path -> !path.isEmpty()).distinct().filter(path -> looked(path, except))
                .forEach(this::mounted);
        Set<String> later = new HashSet<>(except);
        new NewNames(image).all().forEach(name -> addWithDirectories(later, name.path()));
        for (KernelObject object : image.objects()) {
            String path = object instanceof DirectoryOrDevice opened
                    ? names.views().outsideOf(opened.id(), opened.path()) : null;
            if (path != null && looked(path, later)) {
                int flags = ((DirectoryOrDevice) object).flags();
                Files.Stat now = stat(() -> names.look(path, (flags & Syscall.O_NOFOLLOW) != 0), path, "has open");
                permitted(path, flags, now);
            }
        }
        image.watches().stream().map(watch -> names.views().outsideOf(watch.inotify(), watch.path()))
                .filter(Objects::nonNull).distinct().filter(path -> looked(path, later))
                .forEach(path -> stat(() -> names.look(path, true), path, "watches"));
    }

    /** Whether a path is compared: of file systems that the kernel makes up, the job sees its own. */
    private static boolean looked(String path, Set<String> except) {
        return !except.contains(path) && OWN.stream().noneMatch(own -> path.equals(own) || path.startsWith(own + "/"));
    }

    private void root(String path) {
        directory(path, "has as its root", "root");
        String refusal = RootDirectory.refusal(path);
        if (refusal != null) {
            throw changed(refusal);
        }
    }

    /** What is mounted by its path cannot be exchanged by others, unless it is a mount itself. */
    private void mounted(String path) {
        stat(() -> names.look(path), path, "mounts");
        boolean mount = MountLine.parse(Proc.text("/proc/self/mountinfo")).stream()
                .anyMatch(line -> line.point().equals(path));
        String refusal = mount ? null : RootDirectory.replaceable(path);
        if (refusal != null) {
            throw changed(path + ", which the job mounts, " + refusal);
        }
    }

    private void directory(String path, String does, String kind) {
        Files.Stat now = stat(() -> names.look(path), path, does);
        if (now.type() != Files.Stat.DIRECTORY) {
            throw changed(path + ", the job's " + kind + " directory, is not a directory any more");
        }
        refused(Access.entryRefusal(path, now), path, "cannot be entered");
    }

    /**
     * Its content and mode are put back, which attributes (chattr(1)) and a mount that is read-only now do not let
     * happen.
     */
    private static void puttable(String path, int flags) {
        Files.Stat now = Files.tryStat(path); // a look: what is opened is verified
        int error = now == null ? 0 : Access.refusal(path, flags, now);
        if (error != LinuxError.EACCES) {
            refused(error, path, "cannot be opened");
        }
    }

    private String outside(OpenFile file) {
        return names.views().outsideOf(file.id(), file.path());
    }

    private static void permitted(String path, int flags, Files.Stat now) {
        refused(Access.refusal(path, flags, now), path, "cannot be opened");
    }

    private static void refused(int error, String path, String what) {
        if (error != 0) {
            throw changed(path + ", which the job uses, " + what + ": " + LinuxError.name(error)
                    + "; permit it as it was at the checkpoint (chmod, chattr)");
        }
    }

    /**
     * That programs and libraries are what they were, of an image that does not say what is in them
     * ({@link VerifiedFiles}).
     *
     * @param except paths that are put back before
     */
    void bySizeAndTime(Set<String> except) {
        if (!image.identities().isEmpty()) {
            return;
        }
        if (image.objects().stream().anyMatch(MappedFile.class::isInstance)) {
            warn.accept(
                    "the checkpoint was taken by an earlier version: its programs and libraries are identified by "
                            + "size and time only");
        }
        Set<String> mapped = new HashSet<>();
        image.processes().stream().map(ProcessState::executable).forEach(mapped::add);
        image.regions().stream().filter(
                r -> r.backing() == 0 && r.path().startsWith("/") && !r.path().equals(SharedMemoryKind.HUGE_PAGES))
                .map(Region::path).forEach(mapped::add);
        mapped.stream().filter(path -> !except.contains(path))
                .forEach(path -> stat(() -> names.look(path), path, "maps"));
        image.objects().stream().filter(MappedFile.class::isInstance).map(MappedFile.class::cast)
                .filter(file -> !except.contains(file.path()))
                .forEach(this::check);
    }

    /** Its code and data were left on disk: another version would run from the middle of a function. */
    private void check(MappedFile file) {
        Files.Stat now = stat(() -> names.look(file.path()), file.path(), "maps");
        if (now.size() != file.size() || now.modified() != file.modifiedNs()) {
            throw changed(("%s, which the job maps, differs from the file at the checkpoint (%d bytes now, %d then); "
                    + "install that version, with its time stamp").formatted(
                            file.path(), now.size(), file.size()));
        }
    }

    private void check(OpenFile file, String path, boolean written) {
        Files.Stat now = stat(() -> names.look(path), path, "has open");
        names.verify(file, now);
        if (now.type() != Files.Stat.REGULAR) {
            throw changed(path + ", which the job has open, is not a regular file any more");
        }
        permitted(path, file.flags(), now);
        if (now.size() < file.size()) {
            throw changed(("%s, which the job has open, has %d bytes; it had %d at the checkpoint; restore the file, "
                    + "or take a checkpoint that matches").formatted(path, now.size(), file.size()));
        }
        if (!written && !identified.contains(path)
                && (now.size() != file.size() || now.modified() != file.modifiedNs())) {
            warn.accept("file " + path + ", which the job reads, was changed since the checkpoint ("
                    + file.size() + " bytes, now " + now.size()
                    + "): the job goes on reading the changed file");
        }
    }

    private static Files.Stat stat(Supplier<Files.Stat> stat, String path, String use) {
        try {
            return stat.get();
        } catch (LinuxError missing) {
            throw changed(path + ", which the job " + use + ", is missing: " + LinuxError.name(missing.errno()));
        }
    }

    private static RestoreException changed(String what) {
        return new RestoreException(RestoreException.Reason.FILE_CHANGED, "file " + what);
    }

    private static boolean writable(OpenFile file) {
        return (file.flags() & ACCESS) != Syscall.O_RDONLY;
    }

    /**
     * What was written after the checkpoint goes away again: the job is about to write it once more.
     *
     * @param root of the file system as the job sees it; "": as this process does
     */
    void cutBack(String root) {
        for (OpenFile file : files) {
            String path = outside(file);
            if (path != null && writable(file)
                    && stat(() -> names.stat(root, path), path, "has open").size() > file.size()) {
                int fd = names.open(root, path, Syscall.O_WRONLY);
                try {
                    names.verify(file, Files.stat(fd));
                    LinuxError.check(Syscall.call(Syscall.FTRUNCATE, fd, file.size()),
                            "cut " + path + " back to " + file.size() + " bytes");
                } finally {
                    Files.close(fd);
                }
            }
        }
    }
}
