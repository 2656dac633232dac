package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.udckpt.process.linux.Files;
import org.udckpt.process.linux.Folder;
import org.udckpt.process.linux.LinuxError;
import org.udckpt.process.linux.Syscall;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject.OpenFile;
import org.udckpt.process.model.KernelObject.SharedMemory;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MemorySource;

/**
 * Puts a job's files back to what they were at the checkpoint, before its processes open them again. {@link #prepare} writes all new content
 * beside the old and changes no name; {@link #swap} changes names only; {@link #commit} when the job runs. Closing without a commit takes
 * everything back. A file that already is what it was is not touched.
 */
public final class Rollback implements AutoCloseable {
    private static final int WRITERS = 4;

    private final RollbackRequest request;
    private final Map<Long, MemorySource> contents = new HashMap<>();
    private final Folders folders;
    private final List<Step> steps = new ArrayList<>();
    private final List<Tail> tails = new ArrayList<>();
    private final List<RolledBack> done = new ArrayList<>();
    private final List<String> leftovers = new ArrayList<>();
    private final Map<Step, RolledBack> reports = new HashMap<>();
    private final Map<Tail, RolledBack> tailReports = new HashMap<>();
    private final List<JobFile.HardLink> hardLinks = new ArrayList<>();
    private final List<JobFile.Directory> directories = new ArrayList<>();
    private final Map<JobFile.RegularFile, Folders.Place> attributes = new HashMap<>();
    private final List<Runnable> oldAttributes = new ArrayList<>();
    private long fresh;
    private boolean committed;

    private Rollback(RollbackRequest request, List<MemorySource> memory) {
        this.request = request;
        this.folders = new Folders(request.root());
        memory.stream().filter(source -> !source.process()).forEach(source -> contents.put(source.id(), source));
    }

    /**
     * Checks all files, and writes those that differ, under names of their own.
     *
     * @throws FilesChanged when something stands in the way
     * @throws LinuxError naming the file; ENOSPC: there is no room for both
     */
    public static Rollback prepare(JobImage image, List<MemorySource> memory, RollbackRequest request) {
        Rollback rollback = new Rollback(request, memory);
        ExecutorService workers = Executors.newFixedThreadPool(WRITERS, Thread.ofPlatform().daemon().name("udckpt-restore-files-", 0).factory());
        try {
            rollback.prepareAll(image, workers);
            return rollback;
        } catch (RuntimeException | Error e) {
            rollback.close(e);
            throw e;
        } finally {
            workers.shutdown();
        }
    }

    private void prepareAll(JobImage image, ExecutorService workers) {
        Set<String> known = new HashSet<>();
        for (JobFile file : image.files()) {
            if (!(file instanceof JobFile.Named)) {
                known.add(file.path());
            }
            switch (file) {
                case JobFile.Directory directory -> directory(directory);
                case JobFile.RegularFile regular -> regular(regular, workers);
                case JobFile.SymbolicLink link -> symbolicLink(link);
                case JobFile.HardLink link -> hardLinks.add(link);
                case JobFile.LeftOut _, JobFile.Named _ -> { }
            }
        }
        for (JobFile.RegularFile file : mappedInOldImages(image, known)) {
            known.add(file.path());
            regular(file, workers);
        }
        for (var object : image.objects()) {
            if (object instanceof OpenFile file && file.backing() == 0 && (file.flags() & 3) != Syscall.O_RDONLY && !isSaved(image, file.path()) && known.add("open " + file.path())) {
                tail(file);
            }
        }
        if (request.root().isEmpty()) {
            madeSince(image, known);
        }
    }

    private static boolean isSaved(JobImage image, String path) {
        return image.files().stream().anyMatch(file -> file instanceof JobFile.RegularFile && file.path().equals(path)
                || file instanceof JobFile.HardLink && file.path().equals(path));
    }

    /** Images that were made before there was a table of files hold them as shared memory; so do those of ordinary users for what only the mapping shows. */
    private static List<JobFile.RegularFile> mappedInOldImages(JobImage image, Set<String> known) {
        List<JobFile.RegularFile> files = new ArrayList<>();
        for (var object : image.objects()) {
            if (object instanceof SharedMemory memory && memory.kind() == MemoryKind.DISK_FILE && !known.contains(memory.path())) {
                files.add(new JobFile.RegularFile(memory.id(), memory.path(), memory.size(), memory.mode(), memory.uid(), memory.gid(), 0, 0, 0, 0, JobFile.Cut.COPIED));
            }
        }
        return files;
    }

    private void directory(JobFile.Directory directory) {
        if (folders.ensure(directory.path())) {
            done.add(new RolledBack(directory.path(), RolledBack.What.PUT_BACK, 0, 0, 0, directory.modifiedNs(), null));
        }
        directories.add(directory);
    }

    private void regular(JobFile.RegularFile file, ExecutorService workers) {
        Folders.Place place = folders.place(file.path());
        Files.Stat now = place.stat();
        if (now != null && now.type() != Files.Stat.REGULAR) {
            throw new FilesChanged(file.path() + " was a file at the checkpoint, and now is " + (now.type() == Files.Stat.DIRECTORY ? "a directory" : "something else") + "; move it away");
        }
        if (now != null && isThe(file, now)) {
            return;
        }
        SavedContent content = new SavedContent(contents.get(file.id()), file.size(), file.path());
        if (now != null && now.size() == file.size() && isIn(content, place)) {
            attributes.put(file, place);
            return;
        }
        Step step = written(file, place, content, workers);
        steps.add(step);
        reports.put(step, now == null ? new RolledBack(file.path(), RolledBack.What.PUT_BACK, 0, 0, file.size(), file.modifiedNs(), null)
                : new RolledBack(file.path(), RolledBack.What.REPLACED, now.size(), now.modified(), file.size(), file.modifiedNs(), null));
    }

    /** Nobody has written to it, nor changed its mode. */
    private static boolean isThe(JobFile.RegularFile file, Files.Stat now) {
        return file.changedNs() != 0 && now.device() == file.device() && now.inode() == file.inode() && now.size() == file.size() && now.modified() == file.modifiedNs()
                && now.changed() == file.changedNs() && file.cut() != JobFile.Cut.APPENDED && file.cut() != JobFile.Cut.GROWN;
    }

    private static boolean isIn(SavedContent content, Folders.Place place) {
        long opened = place.folder().tryOpenFile(place.name(), Syscall.O_RDONLY);
        if (opened < 0) {
            return false; // it cannot be read: it is put aside, which the directory permits or not
        }
        try {
            return content.isIn((int) opened);
        } finally {
            Files.close((int) opened);
        }
    }

    private Step written(JobFile.RegularFile file, Folders.Place place, SavedContent content, ExecutorService workers) {
        String name = null;
        long fd = place.folder().tryNameless();
        if (fd == -LinuxError.EOPNOTSUPP || fd == -LinuxError.EISDIR || fd == -LinuxError.ENOENT) { // no O_TMPFILE there (open(2))
            do {
                name = KeptName.fresh(++fresh);
                fd = place.folder().tryOpenFile(name, Syscall.O_RDWR | Syscall.O_CREAT | Syscall.O_EXCL);
            } while (fd == -LinuxError.EEXIST); // of a restart that was killed
        }
        int opened = (int) LinuxError.check(fd, "make a file beside " + file.path() + ", to put it back");
        Step step = new Step.PutFile(place, request.checkpoint(), opened, name);
        try {
            content.writeTo(opened, workers);
            Attributes.set(opened, file.path(), file.uid(), file.gid(), file.mode(), file.modifiedNs());
            return step;
        } catch (RuntimeException e) {
            step.discard();
            throw e;
        }
    }

    private void symbolicLink(JobFile.SymbolicLink link) {
        Folders.Place place = folders.place(link.path());
        Files.Stat now = place.stat();
        if (now == null || now.type() != Files.Stat.LINK || !place.folder().readLink(place.name()).equals(link.target())) {
            Step step = new Step.PutSymbolicLink(place, request.checkpoint(), link.target());
            steps.add(step);
            reports.put(step, new RolledBack(link.path(), now == null ? RolledBack.What.PUT_BACK : RolledBack.What.REPLACED, now == null ? 0 : now.size(), now == null ? 0 : now.modified(),
                    link.target().length(), 0, null));
        }
    }

    /** The content is not in the image; the restore cuts the file back (it looks whether it is too short, too). */
    private void tail(OpenFile file) {
        Folders.Place place = folders.place(file.path());
        Files.Stat now = place.stat();
        if (now == null || now.type() != Files.Stat.REGULAR || now.size() <= file.size()) {
            return;
        }
        Tail tail = null;
        if (request.keep()) {
            int copy = (int) LinuxError.check(place.folder().tryNameless(), "make a file beside " + file.path() + ", for what is cut off");
            tail = Tail.copy(place, copy, request.checkpoint(), file.size(), now.size());
            tails.add(tail);
        }
        RolledBack report = new RolledBack(file.path(), RolledBack.What.CUT, now.size(), now.modified(), file.size(), file.modifiedNs(), null);
        if (tail == null) {
            done.add(report);
        } else {
            tailReports.put(tail, report);
        }
    }

    private void madeSince(JobImage image, Set<String> known) {
        List<PathPattern> except = image.files().stream().filter(file -> file instanceof JobFile.Named named && named.except()).map(file -> PathPattern.of(file.path())).toList();
        Set<String> streams = FileRequest.keys(request.streams());
        Set<String> aside = new HashSet<>();
        FileRequest scope = new FileRequest(List.of(), except, request.foreign(), streams, 0, 0, null);
        for (JobFile file : image.files()) {
            if (file instanceof JobFile.Named named && !named.except()) {
                FileTree.walk(PathPattern.of(named.path()), each -> scope.isForeign(each) || scope.isExcepted(each), (folder, name, stat) -> {
                    String path = folder.below(name);
                    if (aside.stream().anyMatch(gone -> path.equals(gone) || path.startsWith(gone + "/"))) {
                        return false; // two patterns name it
                    }
                    boolean old = !known.add(path) || streams.contains(Candidate.key(stat)) || isAbove(image, path, stat);
                    if (!old && stat.type() == Files.Stat.DIRECTORY && holdsOthers(folder, name, scope, streams, stat.device())) {
                        return true; // what else is in it goes by itself
                    }
                    if (!old) {
                        aside.add(path);
                        Step step = new Step.PutAside(folders.place(path), request.checkpoint());
                        steps.add(step);
                        reports.put(step, new RolledBack(path, RolledBack.What.MADE_SINCE, stat.size(), stat.modified(), 0, 0, null));
                    }
                    return old;
                });
            }
        }
    }

    /** Whether something lies in a directory that no restart may move: it cannot be put aside as a whole. */
    private static boolean holdsOthers(Folder folder, String name, FileRequest scope, Set<String> streams, long device) {
        try (Folder sub = folder.sub(name)) {
            List<String> names = sub.names();
            if (FileTree.holdsCheckpoints(names)) {
                return true;
            }
            for (String below : names) {
                Files.Stat stat = sub.stat(below);
                String path = sub.below(below);
                if (stat != null && (scope.isForeign(path) || scope.isExcepted(path) || stat.device() != device || streams.contains(Candidate.key(stat))
                        || stat.type() == Files.Stat.DIRECTORY && holdsOthers(sub, below, scope, streams, device))) {
                    return true;
                }
            }
            return false;
        }
    }

    /** A directory that is no part of what was saved, but in which such a file lies, as one that the job only had open. */
    private static boolean isAbove(JobImage image, String path, Files.Stat stat) {
        return stat.type() == Files.Stat.DIRECTORY && image.files().stream().anyMatch(file -> !(file instanceof JobFile.Named) && file.path().startsWith(path + "/"));
    }

    /** Gives the files their names. When it throws, all names are what they were. */
    public void swap() {
        try {
            steps.forEach(Step::swap);
            for (JobFile.HardLink link : hardLinks) {
                relink(link);
            }
            tails.forEach(Tail::keep);
            for (Map.Entry<JobFile.RegularFile, Folders.Place> same : attributes.entrySet()) {
                setAttributes(same.getKey(), same.getValue());
            }
            directories.reversed().forEach(this::setAttributes);
        } catch (RuntimeException e) {
            undo(e);
            throw e;
        }
    }

    private void relink(JobFile.HardLink link) {
        Folders.Place place = folders.place(link.path());
        Folders.Place of = folders.place(link.of());
        Files.Stat now = place.stat();
        Files.Stat wanted = of.stat();
        if (wanted == null) {
            throw new FilesChanged(link.of() + " is not there, of which " + link.path() + " was another name");
        }
        if (now == null || now.inode() != wanted.inode() || now.device() != wanted.device()) {
            Step step = new Step.PutHardLink(place, request.checkpoint(), of);
            steps.add(step);
            reports.put(step, new RolledBack(link.path(), now == null ? RolledBack.What.PUT_BACK : RolledBack.What.REPLACED, now == null ? 0 : now.size(),
                    now == null ? 0 : now.modified(), wanted.size(), wanted.modified(), null));
            step.swap();
        }
    }

    /** Same content: only mode and time, if they differ, and if it is ours to say so. */
    private void setAttributes(JobFile.RegularFile file, Folders.Place place) {
        Files.Stat now = place.stat();
        boolean same = file.modifiedNs() == 0 || now.modified() == file.modifiedNs() && (now.mode() & 07777) == file.mode();
        if (!same && (Syscall.call(107 /* geteuid */) == 0 || now.uid() == Syscall.call(107))) {
            oldAttributes.add(() -> setAttributes(place, now.uid(), now.gid(), now.mode(), now.modified()));
            setAttributes(place, file.uid(), file.gid(), file.mode(), file.modifiedNs());
        }
    }

    private static void setAttributes(Folders.Place place, int uid, int gid, int mode, long modifiedNs) {
        int opened = place.folder().openFile(place.name(), Syscall.O_RDONLY);
        try {
            Attributes.set(opened, place.path(), uid, gid, mode, modifiedNs);
        } finally {
            Files.close(opened);
        }
    }

    private void setAttributes(JobFile.Directory directory) {
        Folder folder = folders.of(directory.path());
        Files.Stat now = folder.stat();
        boolean same = now.modified() == directory.modifiedNs() && (now.mode() & 07777) == directory.mode();
        if (!same && (Syscall.call(107 /* geteuid */) == 0 || now.uid() == Syscall.call(107))) {
            oldAttributes.add(() -> Attributes.set(folder.descriptor(), directory.path(), now.uid(), now.gid(), now.mode(), now.modified()));
            Attributes.set(folder.descriptor(), directory.path(), directory.uid(), directory.gid(), directory.mode(), directory.modifiedNs());
        }
    }

    /** The job runs, and nothing that goes wrong here is its end: see {@link #leftovers}. What was put aside and is not to be kept is removed. */
    public void commit() {
        committed = true;
        for (Step step : steps) {
            if (!request.keep()) {
                attemptToo(step::removeKept, step.kept());
            }
            done.add(with(reports.get(step), step.kept()));
        }
        if (!request.keep()) {
            directories.reversed().forEach(directory -> attemptToo(() -> setAttributes(directory), directory.path()));
        }
        tails.forEach(tail -> done.add(with(tailReports.get(tail), tail.path())));
    }

    private void attemptToo(Runnable action, String path) {
        try {
            action.run();
        } catch (RuntimeException e) {
            leftovers.add(path + ": " + e.getMessage());
        }
    }

    /** What could not be cleaned up by {@link #commit}, and why. */
    public List<String> leftovers() {
        return List.copyOf(leftovers);
    }

    private static RolledBack with(RolledBack report, String kept) {
        return new RolledBack(report.path(), report.what(), report.fromSize(), report.fromModifiedNs(), report.toSize(), report.toModifiedNs(), kept);
    }

    /** What was done, after {@link #commit}: nothing about files that were what they had been. */
    public List<RolledBack> report() {
        return List.copyOf(done);
    }

    private void undo(Throwable cause) {
        // First of all: a directory that the checkpoint has without the right to write takes no names back.
        oldAttributes.reversed().forEach(attributes -> attempt(attributes, cause));
        for (Step step : steps.reversed()) {
            attempt(step::undo, cause);
        }
        tails.forEach(tail -> attempt(tail::undo, cause));
        oldAttributes.reversed().forEach(attributes -> attempt(attributes, cause));
        oldAttributes.clear();
    }

    private static void attempt(Runnable action, Throwable cause) {
        try {
            action.run();
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    private void close(Throwable cause) {
        if (!committed) {
            undo(cause);
        }
        for (Step step : steps) {
            attempt(step::discard, cause);
        }
        tails.forEach(tail -> attempt(tail::close, cause));
        if (!committed) {
            attempt(folders::undo, cause);
        }
        folders.close();
    }

    @Override
    public void close() {
        IllegalStateException trouble = new IllegalStateException("files could not be put as they were");
        close(trouble);
        if (trouble.getSuppressed().length > 0) {
            throw new FilesChanged("after the restart had failed, not all files could be given their old names: " + trouble.getSuppressed()[0].getMessage());
        }
    }
}
