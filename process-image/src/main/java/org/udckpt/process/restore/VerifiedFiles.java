package org.udckpt.process.restore;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.FoundFile;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PathWriters;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.Writers;
import org.udckpt.process.identity.ContentDigest;
import org.udckpt.process.identity.IdentityReader;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.FileIdentity.Use;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;

/**
 * The files of which the image holds no content, each opened once, found to be the one of the checkpoint, and kept
 * open: the restored processes map this very file, whatever becomes of its name meanwhile.
 *
 * <p>Contents are the same where the file is (device, inode, size and times under the same boot), and nobody else can
 * write to it; else where its digest is. Who else may write to it, or to a directory above it, has to have been able to
 * do so at the checkpoint.
 */
final class VerifiedFiles implements AutoCloseable {
    static final VerifiedFiles NONE = new VerifiedFiles(Set.of(), SavedLibraries.NONE, "", _ -> {});
    private static final String WAY_OUT =
            "install that version again, give its new place (--map-path OLD=NEW), or take a checkpoint with this one "
                    + "(next time: with --with-libraries)";

    private final Set<String> saved;
    private final SavedLibraries libraries;
    private final String boot;
    private final Consumer<String> warn;
    /** Open for reading, to be mapped. */
    private final Map<String, Integer> mapped = new HashMap<>();
    /** Of these, those that are {@link #libraries}'. */
    private final Set<String> fromImage = new LinkedHashSet<>();
    /** The file that an open by name must find. */
    private final Map<String, FoundFile> read = new HashMap<>();

    private VerifiedFiles(Set<String> saved, SavedLibraries libraries, String boot, Consumer<String> warn) {
        this.saved = saved;
        this.libraries = libraries;
        this.boot = boot;
        this.warn = warn;
    }

    /**
     * Of an image that says what they are; else empty.
     *
     * @param libraries those whose content is in the image: for where the file is not there as it was
     * @param putBack files whose content is in the image have been put back; else they are not looked at
     * @throws RestoreException naming those that are not there as they were
     */
    static VerifiedFiles of(JobImage image, SavedLibraries libraries, boolean putBack,
            Consumer<String> warn) {
        Set<String> saved = image.files().stream().filter(JobFile.RegularFile.class::isInstance).map(JobFile::path)
                .collect(Collectors.toSet());
        VerifiedFiles files = new VerifiedFiles(saved, libraries, IdentityReader.boot(), warn);
        RefusedFiles refused = new RefusedFiles(WAY_OUT);
        try (PathWriters paths = new PathWriters()) {
            for (FileIdentity then : image.identities()) {
                if (putBack || !saved.contains(then.path())) {
                    files.verify(then, paths, refused);
                }
            }
            refused.refuse();
            files.tellSaved();
            return files;
        } catch (RuntimeException | Error e) {
            files.close();
            throw e;
        }
    }

    private void tellSaved() {
        int count = fromImage.size();
        if (count > 0) {
            warn.accept(
                    "the content at the checkpoint, out of the image, is used for %d %s that the job maps, missing or "
                            .formatted(count, count == 1 ? "file" : "files")
                            + "changed here: "
                            + String.join(", ", fromImage.stream().limit(RefusedFiles.NAMED).toList())
                            + (count > RefusedFiles.NAMED ? ", ..." : ""));
        }
    }

    /** Whether {@link #mapped} is no file of this machine. */
    boolean isFromImage(String path) {
        return fromImage.contains(path);
    }

    /** A descriptor of the file, which stays open; null: it is not one of these. */
    Integer mapped(String path) {
        return mapped.get(path);
    }

    /** Whether {@link #requireSame} knows what the file has to be. */
    boolean holds(String path) {
        return read.containsKey(path);
    }

    /**
     * Whether a file that was opened by its name is the one that was looked at.
     *
     * @throws RestoreException it was exchanged since
     */
    void requireSame(String path, Files.Stat opened) {
        FoundFile found = read.get(path);
        if (found != null && !found.stat().isSame(opened)) {
            throw changed("file " + path + ", which the job has open, was replaced during the restart; try again");
        }
    }

    /** The same of what is mapped, and was opened by its name in another mount namespace. */
    void requireMapped(String path, Files.Stat opened) {
        Integer found = mapped.get(path);
        if (found != null && !Files.stat(found).isSame(opened)) {
            throw changed("file " + path + ", which the job maps, is another one in its mount namespace");
        }
    }

    private void verify(FileIdentity then, PathWriters paths, RefusedFiles refused) {
        try {
            verify(then, paths);
        } catch (RestoreException e) {
            if (then.use() == Use.READ || !libraries.has(then)) {
                refused.add(e);
                return;
            }
            mapped.put(then.path(), libraries.open(then));
            fromImage.add(then.path());
        }
    }

    private void verify(FileIdentity then, PathWriters paths) {
        FoundFile file;
        try {
            file = paths.find(then.path());
        } catch (LinuxError missing) {
            throw changed(name(then) + ", is missing: " + LinuxError.name(missing.errno()));
        }
        try {
            if (!file.regular()) {
                throw changed(name(then) + ", is not a regular file any more");
            }
            switch (then.use()) {
                case PROGRAM -> {
                    requireKnownWriters(then, file);
                    if (!(isUntouched(then, file) && file.writers().nobody())) {
                        requireContents(then, file);
                    }
                }
                case SHARED -> {
                    if (file.stat().size() < then.size()) {
                        throw changed("%s, has %d bytes; it had %d at the checkpoint; %s".formatted(name(then),
                                file.stat().size(), then.size(), WAY_OUT));
                    }
                    data(then, file);
                }
                case READ -> data(then, file);
            }
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
        keep(then, file);
    }

    private void keep(FileIdentity then, FoundFile file) {
        if (then.use() == Use.READ) {
            read.put(then.path(), file);
            return;
        }
        try (file) {
            mapped.put(then.path(), file.reopen(Syscall.O_RDONLY | Syscall.O_NONBLOCK));
        } catch (LinuxError e) {
            throw changed(name(then) + ", cannot be opened: " + LinuxError.name(e.errno()));
        }
    }

    /**
     * A data file is the job's input. Users who could write to it while the job had it open are no new danger.
     */
    private void data(FileIdentity then, FoundFile file) {
        boolean changed = file.stat().size() != then.size() || file.stat().modified() != then.modifiedNs();
        boolean known = isTheSame(then, file) && file.own().beside(then.ownWriters()).nobody();
        boolean trusted = file.writers().beside(then.ownWriters()).nobody();
        if (!trusted) {
            requireKnownWriters(then, file);
        }
        if (!known && (!trusted || then.use() == Use.SHARED && then.digest() != null)) {
            requireDigest(then, file);
        } else if (changed) {
            warn.accept(name(then) + ", was changed since the checkpoint (" + FileFacts.compare(then, file, null)
                    + "): the job goes on reading the changed file");
        }
    }

    private void requireKnownWriters(FileIdentity then, FoundFile file) {
        Writers strangers = file.writers().beside(then.writers());
        if (!strangers.nobody()) {
            throw new RestoreException(RestoreException.Reason.FORBIDDEN, name(then)
                    + ", can be replaced or changed by others, who could not do so at the checkpoint: " + strangers
                    + "; revoke that (chown, chmod go-w), or copy the file to a directory of your own and restart with "
                    + "--map-path OLD=NEW");
        }
    }

    private void requireContents(FileIdentity then, FoundFile file) {
        if (then.digest() != null) {
            requireDigest(then, file);
        } else if (!saved.contains(then.path()) && !isUntouched(then, file)) {
            if (file.stat().size() != then.size() || file.stat().modified() != then.modifiedNs()) {
                throw changed("%s, differs from the file at the checkpoint: %s; %s".formatted(name(then),
                        FileFacts.compare(then, file, null), WAY_OUT));
            }
            if (!file.writers().nobody()) {
                throw unproven(then, file);
            }
            warn.accept(name(then) + ", is identified by its size and time only: " + then.undigested());
        }
    }

    private void requireDigest(FileIdentity then, FoundFile file) {
        if (then.digest() == null) {
            throw unproven(then, file);
        }
        ContentDigest now = null;
        if (file.stat().size() == then.size()) {
            int fd = file.reopen(Syscall.O_RDONLY | Syscall.O_NONBLOCK);
            try {
                now = ContentDigest.of(fd, then.path());
            } catch (LinuxError unreadable) {
                throw changed(name(then) + ", cannot be read: " + unreadable.getMessage());
            } finally {
                Files.close(fd);
            }
        }
        if (now == null || !Arrays.equals(now.sha256(), then.digest())) {
            throw changed("%s, differs from the file at the checkpoint: %s; %s".formatted(name(then),
                    FileFacts.compare(then, file, now), WAY_OUT));
        }
    }

    private static RestoreException unproven(FileIdentity then, FoundFile file) {
        return new RestoreException(RestoreException.Reason.FORBIDDEN,
                name(then) + ", can be replaced or changed by others: " + file.writers()
                        + "; and the image has no digest to verify its contents by (" + then.undigested()
                        + "); copy that version to a directory of your own and restart with --map-path OLD=NEW");
    }

    /**
     * Whether a file is the same and was not written to since the checkpoint (or only by a user who can set the clock).
     */
    private boolean isUntouched(FileIdentity then, FoundFile file) {
        Files.Stat now = file.stat();
        return then.boot().equals(boot) && then.changedNs() != 0 && now.changed() == then.changedNs()
                && now.modified() == then.modifiedNs() && now.size() == then.size()
                && now.inode() == then.inode() && now.device() == then.device();
    }

    /** Whether a file is the same, possibly written to; its inode was not reused meanwhile. */
    private boolean isTheSame(FileIdentity then, FoundFile file) {
        return then.boot().equals(boot) && then.bornNs() != 0 && Files.born(file.fd()) == then.bornNs()
                && file.stat().inode() == then.inode() && file.stat().device() == then.device();
    }

    private static String name(FileIdentity file) {
        return "file " + file.path() + ", which the job " + file.use().verb();
    }

    private static RestoreException changed(String what) {
        return new RestoreException(RestoreException.Reason.FILE_CHANGED, what);
    }

    /** When everything is mapped. */
    @Override
    public void close() {
        mapped.values().forEach(Files::close);
        mapped.clear();
        read.values().forEach(FoundFile::close);
        read.clear();
    }
}
