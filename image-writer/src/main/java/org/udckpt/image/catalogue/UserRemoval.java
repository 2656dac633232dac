package org.udckpt.image.catalogue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.directory.WriterLease;
import org.udckpt.image.storage.StorageIo;

/**
 * Removes checkpoints because a user asks for it. What a newer checkpoint is based on, what is being written, and what
 * anybody holds ({@link StorageIo#hold}: a reader, a restart, a running job) stays. Everything is decided and done
 * under the lock of the directory.
 */
public final class UserRemoval {
    private final Catalogue catalogue;

    /** A checkpoint that went, or would go. @param bytes of its files here */
    public record Removed(Catalogue.Entry entry, long bytes) {}

    /** A checkpoint that was named, or is old enough to go, and stays. */
    public record Kept(Catalogue.Entry entry, Obstacle why) {}

    /** @param removed newest first. @param kept newest first */
    public record Outcome(List<Removed> removed, List<Kept> kept) {
        /** Bytes of all that was removed. */
        public long bytes() {
            return removed.stream().mapToLong(Removed::bytes).sum();
        }
    }

    public UserRemoval(Catalogue catalogue) {
        this.catalogue = catalogue;
    }

    /**
     * Removes one checkpoint, whatever its state.
     *
     * @param withBases what it is based on goes too, as far as nothing else needs or holds it
     * @param dryRun    nothing is removed
     * @return what went; nothing went when the checkpoint itself is among what is kept
     * @throws NoSuchFileException when there is no checkpoint of this number
     */
    public Outcome remove(long id, boolean withBases, boolean dryRun) throws IOException {
        try (Locked locked = new Locked()) {
            Catalogue.Entry goal = locked.entry(id).orElseThrow(
                    () -> new NoSuchFileException(catalogue.parent().resolve(ImageNames.directory(id)).toString()));
            List<Catalogue.Entry> wanted = new ArrayList<>(List.of(goal));
            if (withBases && goal.manifest() != null) {
                Set<Long> bases = Catalogue.withBases(locked.complete(), Set.of(id));
                locked.complete()
                        .reversed()
                        .stream()
                        .filter(entry -> entry.id() != id && bases.contains(entry.id()))
                        .forEach(wanted::add);
            }
            return locked.remove(wanted, dryRun);
        }
    }

    /**
     * Removes complete checkpoints of each job that are older than its newest {@code keep}, and what dead writers left.
     * Before a job's first one goes, its newest is read whole. Corrupt checkpoints neither count nor go.
     *
     * @param keep   at least 1
     * @param before only what was taken before this; null: whenever
     * @param job    of a complete checkpoint: each job has its own newest ones
     * @param check  throws when the newest is damaged: then nothing goes at all
     */
    public Outcome prune(int keep, Instant before, Function<Catalogue.Entry, String> job, boolean dryRun,
            Catalogue.WholeRead check) throws IOException {
        if (keep < 1) {
            throw new IllegalArgumentException("keep " + keep + ": at least one checkpoint must stay");
        }
        Map<String, Long> verified = new HashMap<>();
        for (Map.Entry<String, List<Catalogue.Entry>> one : byJob(catalogue.list(), job).entrySet()) {
            Catalogue.Entry newest = one.getValue().getLast();
            if (!old(one.getValue(), keep, before).isEmpty()) {
                if (!dryRun) {
                    check.read(newest);
                }
                verified.put(one.getKey(), newest.id());
            }
        }
        try (Locked locked = new Locked()) {
            List<Catalogue.Entry> wanted = new ArrayList<>();
            byJob(locked.entries, job).forEach((name, complete) -> {
                Long newest = verified.get(name);
                // Else nobody has read what others would go for.
                if (newest != null && complete.stream().anyMatch(entry -> entry.id() == newest)) {
                    old(complete, keep, before).stream().filter(entry -> entry.id() < newest).forEach(wanted::add);
                }
            });
            wanted.sort((one, other) -> Long.compare(other.id(), one.id()));
            Outcome outcome = locked.remove(wanted, dryRun);
            List<Removed> removed = new ArrayList<>(outcome.removed());
            removed.addAll(locked.removeLeftovers(dryRun));
            return new Outcome(removed, outcome.kept());
        }
    }

    private static Map<String, List<Catalogue.Entry>> byJob(
            List<Catalogue.Entry> entries, Function<Catalogue.Entry, String> job) {
        return entries.stream()
                .filter(entry -> entry.state() == Catalogue.State.COMPLETE)
                .collect(Collectors.groupingBy(job, TreeMap::new, Collectors.toList()));
    }

    /** Which of a job's complete ones may go by their number and age. */
    private static List<Catalogue.Entry> old(List<Catalogue.Entry> complete, int keep, Instant before) {
        Set<Long> newest = Catalogue.newest(complete, keep);
        return complete.stream()
                .filter(entry -> !newest.contains(entry.id()))
                .filter(entry -> before == null || entry.manifest().takenAt().isBefore(before))
                .toList();
    }

    /** The checkpoints of a directory, under the directory's lock. */
    private final class Locked implements Closeable {
        private final StorageIo.Session io = catalogue.storage().session();
        private final Closeable lock;
        private final List<Catalogue.Entry> entries;
        private final List<Closeable> excluded = new ArrayList<>();

        Locked() throws IOException {
            Closeable taken = null;
            try {
                if (!io.hasDirectory(catalogue.parent())) { // a lock would be made there
                    throw new NoSuchFileException(catalogue.parent().toString());
                }
                taken = io.lock(catalogue.parent().resolve(ImageNames.LOCK));
                entries = catalogue.list(io);
                lock = taken;
            } catch (IOException | RuntimeException | Error e) {
                try (StorageIo.Session _ = io; Closeable _ = taken) {
                    throw e;
                }
            }
        }

        Optional<Catalogue.Entry> entry(long id) {
            return entries.stream().filter(one -> one.id() == id).findFirst();
        }

        List<Catalogue.Entry> complete() {
            return entries.stream().filter(one -> one.state() == Catalogue.State.COMPLETE).toList();
        }

        /** @param wanted newest first: what is based on an older one goes before it */
        Outcome remove(List<Catalogue.Entry> wanted, boolean dryRun) throws IOException {
            List<Kept> kept = new ArrayList<>();
            List<Catalogue.Entry> going = new ArrayList<>();
            Set<Long> goingIds = new HashSet<>();
            for (Catalogue.Entry entry : wanted) {
                Optional<Obstacle> obstacle = obstacle(entry, goingIds);
                if (obstacle.isPresent()) {
                    kept.add(new Kept(entry, obstacle.get()));
                } else {
                    going.add(entry);
                    goingIds.add(entry.id());
                }
            }
            return new Outcome(removeAll(going, dryRun), kept);
        }

        private List<Removed> removeAll(List<Catalogue.Entry> going, boolean dryRun) throws IOException {
            List<Removed> removed = new ArrayList<>();
            for (Catalogue.Entry entry : going) {
                long bytes = bytes(entry.directory());
                if (!dryRun) {
                    catalogue.removeHeld(entry, io);
                }
                removed.add(new Removed(entry, bytes));
            }
            return removed;
        }

        /** What dead writers left; not what is somebody else's. */
        List<Removed> removeLeftovers(boolean dryRun) throws IOException {
            List<Removed> removed = new ArrayList<>();
            for (Catalogue.Entry entry : entries) {
                if (entry.state() == Catalogue.State.INCOMPLETE && !entry.inProgress()) {
                    removeLeftover(entry, dryRun).ifPresent(removed::add);
                }
            }
            return removed;
        }

        private Optional<Removed> removeLeftover(Catalogue.Entry entry, boolean dryRun) throws IOException {
            try {
                long bytes = bytes(entry.directory());
                boolean goes = dryRun || catalogue.removedUnlessForeign(entry, io);
                return goes ? Optional.of(new Removed(entry, bytes)) : Optional.empty();
            } catch (AccessDeniedException foreign) {
                return Optional.empty();
            }
        }

        /**
         * The obstacle to a removal. If there is none, no process can begin to hold the checkpoint before this is
         * closed.
         * @param going newer ones that go too
         */
        private Optional<Obstacle> obstacle(Catalogue.Entry entry, Set<Long> going) throws IOException {
            if (io.kind(entry.directory()) == StorageIo.Kind.LINK) {
                return Optional.of(new Obstacle.Link());
            }
            if (entry.inProgress()) {
                return Optional.of(
                        new Obstacle.BeingWritten(
                                WriterLease.livenessOf(entry.directory(), io) == WriterLease.Liveness.ALIVE));
            }
            List<Catalogue.Entry> newer = entries.stream()
                    .filter(one -> one.manifest() != null && !going.contains(one.id()))
                    .filter(one -> one.manifest().bases().stream().anyMatch(base -> base.id() == entry.id()))
                    .toList();
            if (!newer.isEmpty()) {
                return Optional.of(new Obstacle.Needed(newer));
            }
            for (Catalogue.Entry one : entries) {
                if (one.id() > entry.id()
                        && (one.problem() instanceof ImageError.NoKey || one.problem() instanceof ImageError.TooNew)) {
                    return Optional.of(new Obstacle.Unreadable(one, one.problem()));
                }
            }
            return isHeld(entry) ? Optional.of(new Obstacle.Held()) : Optional.empty();
        }

        private boolean isHeld(Catalogue.Entry entry) throws IOException {
            Path manifest = entry.directory().resolve(ImageNames.MANIFEST);
            if (io.kind(manifest) != StorageIo.Kind.FILE) {
                return false; // nobody reads it
            }
            Optional<Closeable> alone = io.exclude(manifest);
            alone.ifPresent(excluded::add);
            return alone.isEmpty();
        }

        private long bytes(Path directory) throws IOException {
            long bytes = 0;
            for (Path file : io.list(directory)) {
                if (io.kind(file) == StorageIo.Kind.FILE) {
                    try (StorageIo.Input input = io.open(file)) {
                        bytes += input.length();
                    }
                }
            }
            return bytes;
        }

        @Override
        public void close() throws IOException {
            try (StorageIo.Session _ = io; Closeable _ = lock) {
                for (Closeable one : excluded) {
                    one.close();
                }
            }
        }
    }
}
