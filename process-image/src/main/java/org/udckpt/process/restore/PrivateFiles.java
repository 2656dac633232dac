package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.MS_BIND;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.SharedMemory;

/**
 * Lets a job change files without changing them: over each directory in which it works, or has a file open for writing,
 * lies another one in the job's mount namespace (overlayfs; Linux, Documentation/filesystems/overlayfs.rst), which
 * takes what is written. Other directories, and file systems that are mounted below those, are as always. A directory
 * that is gone (of a launcher's session, which removes it at its end) is made, since there is nothing else that one
 * could lie over, and {@link #removeMade removed} again; so is shared memory with a name, which is made where it was.
 */
public final class PrivateFiles {
    /**
     * Where the changes go.
     *
     * @param directory an empty one on a file system with extended attributes; to be removed when the job has ended
     * @param except what stays as it is, also below those directories: absolute paths of directories
     */
    public record Place(String directory, List<String> except) {}

    private static final String MADE = "made";
    private static final int MKDIR = 83, SYMLINK = 88, ACCESS = 3;
    private static final Set<String> MEMORY_AND_DEVICES = Set.of("/", "/dev", "/proc", "/sys", "/dev/shm");
    /** mount(2) takes a page of options. */
    private static final int OPTIONS_MOST = 4095, ENAMETOOLONG = 36;
    private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

    private final Place place;
    private final Tracee maker;

    private PrivateFiles(Place place, Tracee maker) {
        this.place = place;
        this.maker = maker;
    }

    /** Where this process sees what {@code tracee} sees as the root directory (proc_pid_root(5)). */
    static String seenBy(Tracee tracee) {
        return "/proc/" + tracee.hostPid() + "/root";
    }

    /**
     * Before any process of the job has opened or entered anything; {@code maker} shares its mount namespace with all
     * others.
     */
    static void mount(JobImage image, Place place, Tracee maker) {
        refuseWhatIsNotCovered(image, maker);
        new PrivateFiles(place, maker).mount(directories(image));
    }

    private static void refuseWhatIsNotCovered(JobImage image, Tracee maker) {
        for (var object : image.objects()) {
            if (object instanceof SharedMemory memory && memory.kind() == MemoryKind.NAMED_FILE
                    && Files.tryStat(memory.path()) != null) {
                throw maker.unsupported("its shared memory " + memory.path()
                        + " exists, perhaps in use by the running job, and would be changed; end that job, or remove "
                        + "the file");
            }
        }
        if (written(image).contains("/")) {
            throw maker.unsupported("its working directory is /, or it writes to files there, and / cannot be "
                    + "protected from changes: run it in its own directory");
        }
    }

    /**
     * In which the job writes, outermost first; without those of memory and devices, which are the job's own or
     * nobody's.
     */
    static List<String> directories(JobImage image) {
        Set<String> all = written(image);
        all.removeIf(directory -> MEMORY_AND_DEVICES.contains(directory) || directory.startsWith("/proc/")
                || directory.startsWith("/sys/"));
        return List.copyOf(all);
    }

    private static Set<String> written(JobImage image) {
        Set<String> all =
                new TreeSet<>(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()));
        image.processes().stream().map(ProcessState::workingDirectory).forEach(all::add);
        for (var object : image.objects()) {
            if (object instanceof OpenFile file && file.backing() == 0 && (file.flags() & ACCESS) != Syscall.O_RDONLY) {
                all.add(parent(file.path()));
            } else if (object instanceof SharedMemory memory && memory.kind() == MemoryKind.DISK_FILE) {
                all.add(parent(memory.path()));
            }
        }
        for (JobFile file : image.files()) { // they are put back
            switch (file) {
                case JobFile.RegularFile _,JobFile.HardLink _,JobFile.SymbolicLink _ -> all.add(parent(file.path()));
                case JobFile.Directory directory -> all.add(directory.path());
                case JobFile.LeftOut _,JobFile.Named _ -> {
                }
            }
        }
        return all;
    }

    private static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash <= 0 ? "/" : path.substring(0, slash);
    }

    /** An open directory that comes back to its place when another one lies over those above it. */
    private record Kept(String path, long descriptor) {}

    private void mount(List<String> directories) {
        List<String> covered = new ArrayList<>();
        List<Kept> kept = new ArrayList<>();
        Set<String> stay = new TreeSet<>(place.except());
        stay.addAll(mountPoints());
        for (String path : stay) {
            if (directories.stream().anyMatch(directory -> path.startsWith(directory + "/"))) {
                kept.add(new Kept(path,
                        maker.call("open " + path, Syscall.OPEN, maker.string(path), Syscall.O_PATH, 0)));
            }
        }
        for (String directory : directories) {
            boolean done = covered.stream()
                    .anyMatch(above -> directory.equals(above) || directory.startsWith(above + "/")
                            && kept.stream().noneMatch(mount -> mount.path().startsWith(above + "/")
                                    && (directory + "/").startsWith(mount.path() + "/")));
            if (!done) {
                cover(directory, covered.size());
                covered.add(directory);
                kept.stream().filter(mount -> mount.path().startsWith(directory + "/")).forEach(this::putBack);
            }
        }
        kept.forEach(mount -> maker.call("close", Syscall.CLOSE, mount.descriptor()));
    }

    private void cover(String directory, int number) {
        String own = place.directory() + "/" + number;
        for (String part : new String[]{own, own + "/changed", own + "/work"}) {
            maker.call("make " + part, MKDIR, maker.string(part), 0700);
        }
        Files.Stat there = Files.tryStat(directory);
        if (there == null || there.type() != Files.Stat.DIRECTORY) {
            make(directory, own);
        }
        String options = "lowerdir=" + escaped(directory) + ",upperdir=" + escaped(own + "/changed") + ",workdir="
                + escaped(own + "/work")
                + (Syscall.call(Syscall.GETEUID) == 0 ? "" : ",userxattr");
        long result = options.length() > OPTIONS_MOST ? -ENAMETOOLONG
                : maker.tryCall(Syscall.MOUNT, maker.string("overlay"), maker.string(directory),
                        maker.string("overlay"), 0, maker.string(options));
        if (result < 0) {
            throw maker.unsupported("the files in " + directory + " cannot be protected from changes (overlayfs: "
                    + LinuxError.name((int) -result)
                    + "); this needs a kernel with overlayfs, and for changes a file system with extended attributes");
        }
    }

    /** All of it that is not there. What was made is known by links to it, beside the changes, outermost first. */
    private void make(String directory, String own) {
        List<String> missing = new ArrayList<>();
        for (String path = directory; Files.tryStat(path) == null; path = parent(path)) {
            missing.addFirst(path);
        }
        for (int i = 0; i < missing.size(); i++) {
            maker.call("make " + missing.get(i), MKDIR, maker.string(missing.get(i)), 0700);
            maker.call("remember " + missing.get(i), SYMLINK, maker.string(missing.get(i)),
                    maker.string("%s/%s%03d".formatted(own, MADE, i)));
        }
    }

    /** Shared memory has just been made, where there was nothing of that name. */
    static void made(Place place, SharedMemory memory) throws IOException {
        try (Folder folder = Folder.open(place.directory())) {
            folder.symbolicLink(memory.path(), MADE + "-memory-" + memory.id());
        }
    }

    /**
     * Removes shared memory that was made, and the directories that were made to lay others over them. Nobody has
     * written into these; one into which somebody else has stays.
     *
     * @param directory {@link Place#directory}, when the job has ended
     */
    public static void removeMade(java.nio.file.Path directory) throws IOException {
        List<java.nio.file.Path> links;
        try (Stream<java.nio.file.Path> files = java.nio.file.Files.find(directory, 2,
                (file, is) -> is.isSymbolicLink() && file.getFileName().toString().startsWith(MADE))) {
            links = files.sorted(Comparator.reverseOrder()).toList();
        }
        for (java.nio.file.Path link : links) {
            try {
                java.nio.file.Files.deleteIfExists(java.nio.file.Files.readSymbolicLink(link));
            } catch (DirectoryNotEmptyException others) {
                continue; // it is theirs now
            }
        }
    }

    /** By the open directory's own link, since its path leads into what lies over it now. */
    private void putBack(Kept mount) {
        maker.call("keep " + mount.path(), Syscall.MOUNT, maker.string("/proc/self/fd/" + mount.descriptor()),
                maker.string(mount.path()), 0, MS_BIND, 0);
    }

    private static String escaped(String path) {
        return path.replaceAll("([\\\\,:])", "\\\\$1");
    }

    /**
     * Of this process's namespace, of which the job's is a copy; spaces and the like are octal there
     * (proc_pid_mountinfo(5)).
     */
    private static List<String> mountPoints() {
        List<String> points = new ArrayList<>();
        for (String line : Proc.text("/proc/self/mountinfo").split("\n")) {
            points.add(unescaped(line.split(" ")[4]));
        }
        return points;
    }

    private static String unescaped(String point) {
        return OCTAL.matcher(point).replaceAll(
                octal -> Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(octal.group(1), 8))));
    }
}
