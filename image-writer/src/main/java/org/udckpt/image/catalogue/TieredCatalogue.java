package org.udckpt.image.catalogue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.StorageIo;

/** The checkpoints of a job over all tiers: a checkpoint has one number wherever it is. */
public final class TieredCatalogue {
    /** A checkpoint, or what there is of it, in one tier. */
    public record Place(Tier tier, Catalogue.Entry entry) {}

    /** @param places where it is, the fastest first; at least one */
    public record Entry(long id, List<Place> places) {
        public Entry {
            places = List.copyOf(places);
        }

        /** {@code ckpt-0001}. */
        public String name() {
            return ImageNames.directory(id);
        }

        /** The place to read it from: the fastest where it is complete, else the fastest. */
        public Place best() {
            return complete().orElse(places.getFirst());
        }

        /** The fastest place where it is complete, and can be read as a whole if there is such a place. */
        public Optional<Place> complete() {
            List<Place> complete =
                    places.stream().filter(place -> place.entry().state() == Catalogue.State.COMPLETE).toList();
            return complete.stream().filter(place -> !place.entry().onHosts()).findFirst()
                    .or(() -> complete.stream().findFirst());
        }

        /** Whether it is complete in this tier. */
        public boolean completeIn(Tier tier) {
            return places.stream()
                    .anyMatch(place -> place.tier().equals(tier) && place.entry().state() == Catalogue.State.COMPLETE);
        }
    }

    /**
     * What was found.
     *
     * @param entries    oldest first
     * @param unreadable tiers that could not be listed, and why; a tier whose directory is not there is just empty
     */
    public record Listing(List<Entry> entries, Map<Tier, IOException> unreadable) {
        /** The one to restart from. */
        public Optional<Entry> newestComplete() {
            return entries.stream().filter(entry -> entry.complete().isPresent()).reduce((_, later) -> later);
        }
    }

    private final List<Tier> tiers;
    private final ImageKey key;
    private final StorageIo io;

    /** @param tiers the fastest first */
    public TieredCatalogue(List<Tier> tiers, ImageKey key) {
        this(tiers, key, LocalStorage.INSTANCE);
    }

    TieredCatalogue(List<Tier> tiers, ImageKey key, StorageIo io) {
        this.tiers = List.copyOf(tiers);
        this.key = key;
        this.io = io;
    }

    /**
     * Looks into all tiers. One that fails does not hide what the others hold.
     *
     * @throws ImageError.Corrupt when two tiers hold different checkpoints of one number: they are not tiers of one job
     */
    public Listing list() throws ImageError {
        SortedMap<Long, List<Place>> places = new TreeMap<>();
        Map<Tier, IOException> unreadable = new LinkedHashMap<>();
        for (Tier tier : tiers) {
            try {
                list(tier).forEach(entry -> places.computeIfAbsent(entry.id(), _ -> new ArrayList<>())
                        .add(new Place(tier, entry)));
            } catch (IOException e) {
                unreadable.put(tier, e);
            }
        }
        List<Entry> entries = new ArrayList<>();
        for (Map.Entry<Long, List<Place>> one : places.entrySet()) {
            List<Place> ofOne = withoutAbandoned(one.getValue());
            checkSame(ofOne);
            entries.add(new Entry(one.getKey(), ofOne));
        }
        return new Listing(List.copyOf(entries), unreadable);
    }

    private List<Catalogue.Entry> list(Tier tier) throws IOException {
        return switch (tier) {
            case Tier.Directory directory -> io.hasDirectory(directory.path())
                    ? new Catalogue(directory.path(), key, io).list() : List.of();
        };
    }

    /**
     * Without what only hosts have of another checkpoint than the one that is here as a whole: it was not copied when
     * its lead died, and the incarnation that went on without it, led from another machine, gave its number out again.
     */
    private static List<Place> withoutAbandoned(List<Place> places) {
        Optional<Place> whole = places.stream()
                .filter(place -> place.entry().manifest() != null && !place.entry().onHosts()).findFirst();
        return places.stream().filter(place -> whole.isEmpty() || !place.entry().onHosts()
                || place.entry().manifest().equals(whole.get().entry().manifest())).toList();
    }

    private static void checkSame(List<Place> places) throws ImageError {
        List<Place> complete = places.stream().filter(place -> place.entry().manifest() != null).toList();
        for (Place place : complete) {
            if (!place.entry().manifest().equals(complete.getFirst().entry().manifest())) {
                throw new ImageError.Corrupt(place.entry().directory(), -1, "differs from "
                        + complete.getFirst().entry().directory()
                        + ": these are not tiers of one job");
            }
        }
    }
}
