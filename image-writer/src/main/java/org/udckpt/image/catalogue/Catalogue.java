package org.udckpt.image.catalogue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.directory.CheckpointIds;
import org.udckpt.image.directory.CheckpointRemoval;
import org.udckpt.image.directory.WriterLease;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.Manifests;
import org.udckpt.image.manifest.Sealed;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.StorageIo;

/** The checkpoints in a directory: what is there, in what state, and what may go. */
public final class Catalogue {
    private final Path parent;
    private final ImageKey key;
    private final StorageIo storage;

    /** The state of a checkpoint, as far as its manifest and the lengths of its files tell. */
    public enum State {
        /** Its manifest is there and sealed with the reader's key, and all files have their length. */
        COMPLETE,
        /** It has no manifest: it is being written, or its writer failed or died. */
        INCOMPLETE,
        /** It has a manifest, or is a symbolic link, but cannot be used; {@link Entry#problem()} says why. */
        CORRUPT
    }

    /**
     * One checkpoint.
     *
     * @param manifest   null unless complete
     * @param mac        its seal; null unless complete
     * @param problem    null when complete
     * @param inProgress incomplete, and its writer lives or cannot be seen from this machine
     * @param onHosts    complete, but each host has the parts of its own nodes: there is nothing here to restart from
     */
    public record Entry(long id, Path directory, State state, Manifest manifest, String mac, ImageError problem,
            boolean inProgress, boolean onHosts) {
        /** {@code ckpt-0001}. */
        public String name() {
            return ImageNames.directory(id);
        }
    }

    public Catalogue(Path parent, ImageKey key) {
        this(parent, key, LocalStorage.INSTANCE);
    }

    public Catalogue(Path parent, ImageKey key, StorageIo storage) {
        this.parent = parent.toAbsolutePath().normalize();
        this.key = key;
        this.storage = storage;
    }

    /** All checkpoints, oldest first. An I/O error is thrown, not listed as a state. */
    public List<Entry> list() throws IOException {
        try (StorageIo.Session io = storage.session()) {
            return list(io);
        }
    }

    List<Entry> list(StorageIo io) throws IOException {
        List<Entry> entries = new ArrayList<>();
        Manifests manifests = new Manifests(key, io);
        for (Path path : io.list(parent)) {
            var id = ImageNames.id(path);
            StorageIo.Kind kind = id.isEmpty() ? StorageIo.Kind.OTHER : io.kind(path);
            if (kind == StorageIo.Kind.LINK) { // who removes what is in a directory must not be led to another one
                entries.add(new Entry(id.getAsLong(), path, State.CORRUPT, null, null, new ImageError.Corrupt(path, -1,
                        "a symbolic link, which is not followed: give the directory that"
                                + " it leads to, or move that directory here"),
                        false, false));
            } else if (kind == StorageIo.Kind.DIRECTORY) {
                entries.add(entry(id.getAsLong(), path, manifests, io));
            }
        }
        entries.sort((one, other) -> Long.compare(one.id(), other.id()));
        return entries;
    }

    private Entry entry(long id, Path directory, Manifests manifests, StorageIo io) throws IOException {
        try {
            Sealed sealed = manifests.load(directory);
            return new Entry(id, directory, State.COMPLETE, sealed.manifest(), sealed.mac(), null, false,
                    HostParts.isOf(directory, io));
        } catch (ImageError.Missing e) {
            // Without a manifest by now: not damaged, but just being removed.
            if (e.file().endsWith(ImageNames.MANIFEST)
                    || io.kind(directory.resolve(ImageNames.MANIFEST)) == StorageIo.Kind.NOTHING) {
                return unfinished(id, directory, e, io);
            }
            return new Entry(id, directory, State.CORRUPT, null, null, e, false, false);
        } catch (ImageError e) {
            return new Entry(id, directory, State.CORRUPT, null, null, e, false, false);
        }
    }

    private Entry unfinished(long id, Path directory, ImageError problem, StorageIo io) throws IOException {
        try {
            boolean inProgress = WriterLease.livenessOf(directory, io) != WriterLease.Liveness.DEAD;
            return new Entry(id, directory, State.INCOMPLETE, null, null, problem, inProgress, false);
        } catch (ImageError noFile) { // what is in the place of the lease: nobody can say whether it may go
            return new Entry(id, directory, State.CORRUPT, null, null, noFile, false, false);
        }
    }

    /** The checkpoint to restart from. */
    public Optional<Entry> newestComplete() throws IOException {
        return list().stream().filter(entry -> entry.state() == State.COMPLETE).reduce((_, later) -> later);
    }

    /** Reads a checkpoint whole, for whose sake others are to go. */
    @FunctionalInterface
    public interface WholeRead {
        /** @throws IOException when it is damaged, or cannot be read */
        void read(Entry newest) throws IOException;
    }

    /**
     * As {@link #prune(int, Predicate, WholeRead)}, where all are of one job, and an error calls memory by its numbers.
     */
    public List<Entry> prune(int keep) throws IOException {
        return prune(keep, _ -> true, newest -> {
            try (CheckpointReader reader = CheckpointReader.open(newest.directory(), key, storage)) {
                reader.verify((_, _) -> {});
            }
        });
    }

    /**
     * Removes complete checkpoints that are older than the newest {@code keep} complete ones. Before anything is
     * removed, the newest is read whole and checked ({@link CheckpointReader#verify}): when it is damaged, nothing is
     * removed and its error is thrown. Corrupt and incomplete checkpoints, and those of other jobs, neither count nor
     * go, and one that a newer one which stays is based on stays with it.
     *
     * @param keep at least 1
     * @param own says of a complete one whether it is of the job for which others go
     * @return what was removed
     */
    public List<Entry> prune(int keep, Predicate<Entry> own, WholeRead check) throws IOException {
        if (keep < 1) {
            throw new IllegalArgumentException("keep " + keep + ": at least one checkpoint must stay");
        }
        List<Entry> complete =
                list().stream().filter(entry -> entry.state() == State.COMPLETE && own.test(entry)).toList();
        if (complete.size() <= keep) {
            return List.of();
        }
        check.read(complete.getLast());
        long verified = complete.getLast().id();
        return removeAllBut(now -> {
            Set<Long> newest = newest(now.stream().filter(own).toList(), keep);
            return now.stream()
                    .filter(entry -> entry.id() >= verified || !own.test(entry) || newest.contains(entry.id()))
                    .map(Entry::id).collect(Collectors.toSet());
        }, verified);
    }

    /** The ids of the newest {@code count}. @param complete oldest first */
    public static Set<Long> newest(List<Entry> complete, int count) {
        return complete.subList(Math.max(0, complete.size() - count), complete.size()).stream().map(Entry::id)
                .collect(Collectors.toSet());
    }

    /** Which checkpoints stay. Asked under the directory's lock, so it waits for nothing. */
    @FunctionalInterface
    public interface Stays {
        /** The ids of those that stay for their own sake. @param complete oldest first */
        Set<Long> of(List<Entry> complete);
    }

    /**
     * Removes complete checkpoints that do not stay, and that none that stays is based on. What is there is looked at
     * under the lock under which checkpoints come to be ({@link org.udckpt.image.directory.Publication}): one that came
     * meanwhile keeps its bases.
     *
     * @param verified the checkpoint that was read whole, for whose sake others may go: when it is gone by now, nothing
     *     goes
     * @return what was removed
     */
    public List<Entry> removeAllBut(Stays stays, long verified) throws IOException {
        List<Entry> removed = new ArrayList<>();
        try (StorageIo.Session io = storage.session(); Closeable _ = io.lock(parent.resolve(ImageNames.LOCK))) {
            List<Entry> complete = list(io).stream().filter(entry -> entry.state() == State.COMPLETE).toList();
            if (complete.stream().noneMatch(entry -> entry.id() == verified)) {
                return List.of();
            }
            Set<Long> needed = withBases(complete, stays.of(complete));
            for (Entry entry : complete.reversed()) { // what is based on an older one goes before it
                if (!needed.contains(entry.id())) {
                    removeHeld(entry, io);
                    removed.add(entry);
                }
            }
        }
        return removed;
    }

    /**
     * The ids of checkpoints and of all that they are based on, and those in turn: a checkpoint whose base is gone is
     * no complete one.
     *
     * @param complete oldest first
     */
    public static Set<Long> withBases(List<Entry> complete, Set<Long> ids) {
        Set<Long> needed = new HashSet<>(ids);
        for (Entry entry : complete.reversed()) { // a base is older
            if (needed.contains(entry.id())) {
                entry.manifest().bases().forEach(base -> needed.add(base.id()));
            }
        }
        return needed;
    }

    /** Removes what dead writers left. Checkpoints whose writer lives, or is on another machine, stay. */
    public List<Entry> clean() throws IOException {
        List<Entry> removed = new ArrayList<>();
        // Under the lock that new checkpoints are begun with: one without a lease is then not just being born.
        try (StorageIo.Session io = storage.session(); Closeable _ = io.lock(parent.resolve(ImageNames.LOCK))) {
            for (Entry entry : list(io)) {
                if (entry.state() == State.INCOMPLETE && !entry.inProgress() && removedUnlessForeign(entry, io)) {
                    removed.add(entry);
                }
            }
        }
        return removed;
    }

    /** False: it is somebody else's, who has put it there, and may do as he likes with it. */
    boolean removedUnlessForeign(Entry entry, StorageIo io) throws IOException {
        try {
            removeHeld(entry, io);
            return true;
        } catch (ImageError.Untrusted foreign) {
            return false;
        }
    }

    /** The highest number that was ever given out here; 0 when none was, or the directory is not there. */
    public long latest() throws IOException {
        try (StorageIo.Session io = storage.session()) {
            return new CheckpointIds(parent, io).latest();
        }
    }

    /**
     * From now on numbers here are higher than {@code id}: another tier has given it out. Makes the directory when it
     * is not there.
     */
    public void raise(long id) throws IOException {
        try (StorageIo.Session io = storage.session()) {
            new CheckpointIds(parent, io).raise(id);
        }
    }

    /** Removes a checkpoint whatever its state, and whatever is based on it; its number is not given out again. */
    public void remove(Entry entry) throws IOException {
        try (StorageIo.Session io = storage.session(); Closeable _ = io.lock(parent.resolve(ImageNames.LOCK))) {
            removeHeld(entry, io);
        }
    }

    /** The directory of all checkpoints. */
    Path parent() {
        return parent;
    }

    StorageIo storage() {
        return storage;
    }

    /** The lock is held. */
    void removeHeld(Entry entry, StorageIo io) throws IOException {
        CheckpointRemoval.remove(entry.directory(), io);
        io.syncDirectory(parent);
    }
}
