package org.udckpt.process.files;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobFile.Cut;
import org.udckpt.process.model.MemorySource;

/**
 * The job's files as they are at the stop. In the stop: {@link #opened} and {@link #mapped} for what the processes
 * have, then {@link #cut}. While the job runs: the {@link #sources} are read, and then {@link #verify} says whether
 * they were what they had been.
 */
public final class FileCut implements AutoCloseable {
    /** Smaller files are copied faster than cloned: a clone waits for the file's unwritten pages. */
    static final long CLONED_FROM = 1 << 20;
    private static final int LARGEST = 3;
    private static final Duration MOST = Duration.ofSeconds(30);

    private final FileRequest request;
    private final LongSupplier ids;
    private final Prefixes before;
    private final Map<String, Candidate> candidates = new LinkedHashMap<>();
    private final List<JobFile> others = new ArrayList<>();
    private final Set<String> found = new HashSet<>();
    private final Set<String> aliases = new HashSet<>();
    private final Set<String> leftOut = new HashSet<>();
    private final Set<Long> cannotClone = new HashSet<>();
    private final TimedFileIo timed;
    private QuietFiles quiet;
    private long left;

    /** A descriptor of the job by which a file can be read. */
    public record Readable(int pid, int fd) {}

    /** @param ids gives a new id with each call */
    public FileCut(FileRequest request, LongSupplier ids, Prefixes before) {
        this(request, ids, before, MOST);
    }

    /** @param most so long may {@link #cut} take */
    FileCut(FileRequest request, LongSupplier ids, Prefixes before, Duration most) {
        this.timed = new TimedFileIo(most, at -> "opening and cloning the job's files took longer than the job may "
                + "be stopped for it (" + most.toSeconds() + " s); it was at " + at
                + ": the file system may hang; otherwise give fewer --files, or exclude some with --files-except");
        this.request = request;
        this.ids = ids;
        this.before = before;
        this.left = request.inStop();
    }

    /** Before any file is shown: who would notice that it is read. */
    public void openBy(QuietFiles opener) {
        quiet = opener;
    }

    /**
     * A file on disk that a stopped process has open for writing.
     *
     * @param through a path by which it can be opened, of /proc/PID/fd
     * @param readable null: the job has it open for writing only
     * @return why it cannot be saved and so the job not be checkpointed, or null
     */
    public String opened(String path, String through, int flags, Files.Stat stat, Readable readable) {
        boolean appends = (flags & Syscall.O_APPEND) != 0;
        Candidate known = candidates.get(Candidate.key(stat));
        if (known == null && quiet.observers().hasLease(stat)
                && (request.isForeign(path) || request.isExcepted(path))) {
            return path + " has a lease (fcntl(2), F_SETLEASE) and is excluded from the checkpoint; a restart would "
                    + "have to truncate it, which breaks the lease: release it, or let the checkpoint save the file";
        }
        if (known == null && !leftOut.contains(path)) {
            if (request.isForeign(path)) {
                leaveOut(path, "it belongs to udckpt");
                return null;
            }
            if (request.isExcepted(path)) {
                leaveOut(path, "--files-except");
                return null;
            }
            if (quiet.observers().hasLease(stat)) {
                String refusal = copyLeased(path, stat, readable);
                if (refusal != null) {
                    return refusal;
                }
                return opened(path, through, flags, stat, readable);
            }
            long fd = quiet.tryOpen(through, path);
            if (fd == -LinuxError.EACCES) {
                if (!appends) {
                    return path
                            + (" is open, and its mode (%o) does not let its contents be saved; permit reading (chmod "
                                    + "u+r)")
                                    .formatted(stat.mode() & 07777);
                }
                leaveOut(path, "its mode (%o) does not let it be read".formatted(stat.mode() & 07777));
                return null;
            }
            known = add(path, (int) LinuxError.check(fd, "open " + path));
        }
        if (known != null) {
            known.written = true;
            known.overwritable |= !appends;
            alias(known, path);
        }
        return null;
    }

    /**
     * Its lease breaks when anybody opens it: it is read by the job's own descriptor, and in the stop, since that one
     * is the job's to close.
     */
    private String copyLeased(String path, Files.Stat stat, Readable readable) {
        if (readable == null) {
            return path + " has a lease (fcntl(2), F_SETLEASE), which another open would break, and the job has it "
                    + "open for writing only; open it O_RDWR, or release the lease";
        }
        if (stat.size() > left) {
            return path + " (" + mebibytes(stat.size()) + ") has a lease (fcntl(2), F_SETLEASE), so it has to be "
                    + "copied while the job is stopped: raise --files-in-stop, or release the lease";
        }
        try (ProcessHandleFd process = new ProcessHandleFd(readable.pid())) {
            int own = process.duplicate(readable.fd());
            try {
                Candidate candidate = new Candidate(path, FileCopies.copyMapped(own, path, stat.size()), stat);
                candidate.copied = true;
                candidates.put(candidate.key, candidate);
                left -= stat.size();
                return null;
            } finally {
                Files.close(own);
            }
        }
    }

    /**
     * Whether a file that is mapped shared and writable is left where it is: at a restart the job maps it as it is
     * then.
     */
    public boolean leaves(String path) {
        if (request.isForeign(path)) {
            leaveOut(path, "it belongs to udckpt");
        } else if (request.isExcepted(path)) {
            leaveOut(path, "--files-except");
        }
        return leftOut.contains(path);
    }

    /**
     * A file on disk that a stopped process maps, shared and writable.
     *
     * @param inode its number; the device that a mapping shows is not that of stat(2) on every file system
     * @param id that the content gets: that of the {@link org.udckpt.process.model.SharedMemory}
     * @return false: it cannot be opened under its name, and its content has to be had otherwise
     */
    public boolean mapped(String path, long inode, long id) {
        Files.Stat stat = Files.tryStat(path);
        if (stat == null || stat.inode() != inode) { // another file has its name now
            return false;
        }
        Candidate known = candidates.get(Candidate.key(stat));
        if (known == null) {
            long fd = quiet.tryOpenNoFollow(path);
            if (fd < 0) {
                return false;
            }
            known = add(path, (int) fd);
        }
        known.mapped = known.written = known.overwritable = true;
        known.id = known.id == 0 ? id : known.id;
        return true;
    }

    private Candidate add(String path, int fd) {
        Candidate candidate = new Candidate(path, fd, Files.stat(fd)); // stat of the same moment as the content
        candidates.put(candidate.key, candidate);
        return candidate;
    }

    /** The same file may be met under several names. */
    private void alias(Candidate known, String path) {
        if (!known.path.equals(path) && aliases.add(path)) {
            others.add(new JobFile.HardLink(path, known.path));
        }
    }

    private void leaveOut(String path, String reason) {
        if (leftOut.add(path)) {
            others.add(new JobFile.LeftOut(path, reason));
        }
    }

    /**
     * Finds the named files, and gets hold of all content. The job stands still; nothing of it has been changed.
     *
     * @throws FilesRefused naming the file; also when that takes too long
     */
    public void cut() {
        timed.with(this::getHold);
    }

    private void getHold() {
        request.except().forEach(pattern -> others.add(new JobFile.Named(pattern.toString(), true)));
        for (PathPattern pattern : request.named()) {
            others.add(new JobFile.Named(pattern.toString(), false));
            FileTree.walk(pattern, quiet, path -> request.isForeign(path) || request.isExcepted(path), this::found,
                    path -> {
                        throw new FilesRefused("the name of " + path + " is not UTF-8: rename it, or exclude it with "
                                + "--files-except");
                    });
        }
        checkSize();
        candidates.values().stream()
                .sorted(Comparator.comparing((Candidate c) -> !c.mapped)
                        .thenComparing(c -> !request.hot().contains(c.path))
                        .thenComparing(Candidate::size))
                .forEach(this::hold);
        long newest = candidates.values().stream().filter(c -> c.cut == Cut.UNCHANGED).mapToLong(c -> c.stat.changed())
                .max().orElse(0);
        if (!Clock.pass(newest)) {
            throw new FilesRefused("a file of the job has a modification time in the future; set the machine's clock");
        }
    }

    private boolean found(Folder folder, String name, Files.Stat stat) {
        String path = folder.below(name);
        timed.at(path);
        if (!found.add(path)) {
            return true; // two patterns name it
        }
        switch (stat.type()) {
            case Files.Stat.DIRECTORY -> others
                    .add(new JobFile.Directory(path, stat.mode() & 07777, stat.uid(), stat.gid(), stat.modified()));
            case Files.Stat.LINK -> others
                    .add(new JobFile.SymbolicLink(path, folder.readLink(name), stat.uid(), stat.gid()));
            case Files.Stat.REGULAR -> file(folder, name, stat);
            default -> leaveOut(path, "it is not a file, directory or symbolic link");
        }
        return true;
    }

    private void file(Folder folder, String name, Files.Stat stat) {
        String path = folder.below(name);
        Candidate known = candidates.get(Candidate.key(stat));
        if (known != null) {
            alias(known, path);
        } else if (request.streams().contains(Candidate.key(stat))) {
            leaveOut(path, "it is a standard stream of udckpt itself");
        } else if (!leftOut.contains(path)) {
            long fd = quiet.tryOpen(folder, name);
            if (fd == -LinuxError.ENOENT) {
                return;
            }
            if (fd < 0) {
                throw new FilesRefused("cannot read " + path + ", which --files names: " + LinuxError.name((int) -fd)
                        + "; permit it, or exclude it with --files-except");
            }
            add(path, (int) fd);
        }
    }

    private void checkSize() {
        long all = candidates.values().stream().mapToLong(Candidate::size).sum();
        if (all > request.most()) {
            List<String> largest =
                    candidates.values().stream().sorted(Comparator.comparing(Candidate::size).reversed()).limit(LARGEST)
                            .map(c -> c.path + " (" + mebibytes(c.size()) + ")").toList();
            throw new FilesRefused(
                    "the job's files have " + mebibytes(all) + ", above --files-limit: " + String.join(", ", largest)
                            + " and others; raise it, or exclude some with --files-except");
        }
    }

    private static String mebibytes(long bytes) {
        return bytes < 10 << 20 ? bytes + " bytes" : (bytes >> 20) + " MiB";
    }

    private void hold(Candidate c) {
        timed.at(c.path);
        long id = c.id != 0 ? c.id : ids.getAsLong();
        if (c.copied) {
            c.live(Cut.COPIED, id);
            return;
        }
        boolean appends = c.written && !c.overwritable;
        boolean likelyWritten = c.mapped || c.written && c.size() < CLONED_FROM || request.hot().contains(c.path);
        if (!likelyWritten && Candidate.isQuiet(c.stat) && Clock.tells(c.descriptor(), c.stat)) {
            c.live(appends ? Cut.APPENDED : Cut.UNCHANGED, id); // most are never read in the stop, whatever their size
        } else if (!cloned(c, id)) {
            if (c.size() <= left) {
                left -= c.size();
                c.from(FileCopies.copy(c.descriptor(), c.path, c.size()), Cut.COPIED, id);
            } else if (appends) {
                c.live(Cut.APPENDED, id);
            } else if (!c.mapped && grows(c)) {
                grown(c, id);
            } else if (!c.mapped && Clock.tells(c.descriptor(), c.stat)) {
                c.live(Cut.UNCHANGED, id); // with luck
            } else {
                throw new FilesRefused(c.path + " has " + mebibytes(c.size()) + (c.mapped
                        ? ", is mapped shared and writable," : ", has no reliable modification time,")
                        + " so it has to be copied while the job is stopped: " + waysOut());
            }
        }
    }

    private static String waysOut() {
        return "raise --files-in-stop, put it on a file system with reflinks (XFS, Btrfs), or exclude it with "
                + "--files-except";
    }

    private boolean cloned(Candidate c, long id) {
        if (c.size() < CLONED_FROM || cannotClone.contains(c.stat.device())
                || quiet.observers().isDirectoryWatched(c.path)) {
            return false;
        }
        int clone = FileCopies.tryClone(c.descriptor(), c.path);
        if (clone < 0) {
            cannotClone.add(c.stat.device());
            return false;
        }
        c.from(clone, Cut.CLONED, id);
        return true;
    }

    /** What was written since the sums were made, and the beginning, can be copied now. */
    private boolean grows(Candidate c) {
        long known = before.end(c.key);
        return known > FrozenEnds.HEAD && known <= c.size() && FrozenEnds.HEAD + c.size() - known <= left;
    }

    private void grown(Candidate c, long id) {
        c.ends = new FrozenEnds(c.descriptor(), c.path, before.end(c.key), c.size());
        left -= FrozenEnds.HEAD + c.size() - before.end(c.key);
        c.live(Cut.GROWN, id);
        c.contents.freeze(c.ends);
    }

    /** Rows for the image: directories before what is in them. */
    public List<JobFile> rows() {
        List<JobFile> rows = new ArrayList<>(others);
        for (Candidate c : candidates.values()) {
            rows.add(new JobFile.RegularFile(c.contents.id(), c.path, c.size(), c.stat.mode() & 07777, c.stat.uid(),
                    c.stat.gid(), c.stat.modified(),
                    c.stat.device(), c.stat.inode(), tells(c) ? c.stat.changed() : 0, c.cut));
        }
        return rows;
    }

    /**
     * Whether whoever wrote to it after the stop gave it another time of change: that was waited for with those that
     * were not got hold of in the stop.
     */
    private static boolean tells(Candidate c) {
        return c.cut == Cut.UNCHANGED && !c.mapped;
    }

    /** One for each file that is not empty. */
    public List<MemorySource> sources() {
        List<MemorySource> sources = new ArrayList<>();
        candidates.values().stream().filter(c -> !c.contents.isEmpty()).forEach(c -> sources.add(c.contents));
        return sources;
    }

    /**
     * After all sources were read: whether that was what the files held at the stop.
     *
     * @throws FileTorn naming one that was not; it is hot from now on
     */
    public void verify() {
        for (Candidate c : candidates.values()) {
            boolean whole = switch (c.cut) {
                case CLONED, COPIED -> true;
                case APPENDED -> Files.stat(c.descriptor()).size() >= c.size();
                case UNCHANGED -> isUnchanged(c);
                case GROWN -> isUnchanged(c) || before.areStill(c.key, c.descriptor(), c.ends.tailStart(), c.path);
            };
            if (!whole) {
                boolean hopeless = c.size() > request.inStop();
                request.hot().add(c.path);
                throw new FileTorn(c.path + " (" + mebibytes(c.size()) + ") was overwritten while it was saved"
                        + (hopeless ? ", and is too large to be copied while the job is stopped: " + waysOut()
                                : ""),
                        !hopeless);
            }
        }
    }

    private static boolean isUnchanged(Candidate c) {
        Files.Stat now = Files.stat(c.descriptor());
        // Whoever puts another file in its place takes a link away, which changes ctime as well.
        boolean otherwise = now.links() != c.stat.links() || now.mode() != c.stat.mode() || now.uid() != c.stat.uid()
                || now.gid() != c.stat.gid();
        return now.size() == c.size() && now.modified() == c.stat.modified()
                && (now.changed() == c.stat.changed() || otherwise);
    }

    @Override
    public void close() {
        timed.afterwards(() -> candidates.values().forEach(Candidate::close));
    }
}
