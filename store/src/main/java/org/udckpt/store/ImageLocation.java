package org.udckpt.store;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.image.FileErrors;
import org.udckpt.image.ImageError;
import org.udckpt.image.Manifest;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.TieredCatalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * What {@code DIR[/ID]}, or {@code fast=DIR,slow=DIR[/ID]}, of the command line means.
 *
 * @param parent directory of all checkpoints of the job; of tiers the one that the checkpoint is read from
 * @param entry the one checkpoint
 * @param tier its name; empty where no tiers were named
 * @param copy where another tier may have the same one
 */
public record ImageLocation(Path parent, Catalogue.Entry entry, String tier, Optional<Path> copy) {
    private static final Pattern NAMED = Pattern.compile(".*/(ckpt-\\d{4,18})");

    /** In a directory of which nothing more is known. */
    public ImageLocation(Path parent, Catalogue.Entry entry) {
        this(parent, entry, "", Optional.empty());
    }

    /** In one of several tiers. */
    public static ImageLocation in(Tiers tiers, TieredCatalogue.Place place) {
        Path directory = place.entry().directory();
        return new ImageLocation(directory.getParent(), place.entry(), place.tier().name(), tiers.other(directory));
    }

    /** {@code ckpt-0001}; {@code ckpt-0001 in fast}. */
    public String name() {
        return entry.name() + (tier.isEmpty() ? "" : " in " + tier);
    }

    /**
     * A checkpoint by its id, in whatever state, or the newest complete one of a directory; 66 when there is none.
     * Newer ones that are passed over since they are damaged are warned of.
     */
    public static ImageLocation find(String text, ImageKey key) {
        return find(text, key, Messages::warn);
    }

    /** As {@link #find(String, ImageKey)}, for who only looks at it first: warns of nothing. */
    public static ImageLocation look(String text, ImageKey key) {
        return find(text, key, _ -> {});
    }

    private static ImageLocation find(String text, ImageKey key, Consumer<String> warn) {
        Optional<Tiers> tiers = tiers(text);
        if (tiers.isPresent()) {
            return find(tiers.get(), id(text), key, warn);
        }
        Path path = directory(text).toAbsolutePath().normalize();
        boolean named = path.getFileName() != null && path.getFileName().toString().matches("ckpt-\\d{4,18}");
        Path parent = named ? path.getParent() : path;
        List<Catalogue.Entry> entries = list(parent, key);
        if (named) {
            return entries.stream().filter(entry -> entry.name().equals(path.getFileName().toString())).findFirst()
                    .map(entry -> new ImageLocation(parent, entry))
                    .orElseThrow(() -> new Failure(ExitCode.NOT_FOUND,
                            "no checkpoint " + path.getFileName() + " in " + parent + "; there "
                                    + (entries.isEmpty() ? "is none" : "are " + names(entries))));
        }
        Catalogue.Entry newest = entries.stream().filter(entry -> entry.state() == Catalogue.State.COMPLETE)
                .reduce((earlier, later) -> later)
                .orElseThrow(() -> noneComplete(parent.toString(), entries));
        new SkippedCheckpoints(entries).tell(newest, warn);
        return new ImageLocation(parent, newest);
    }

    /** The tiers in {@code fast=DIR,slow=DIR[/ID]}; empty for a directory. */
    public static Optional<Tiers> tiers(String text) {
        return Tiers.parse(id(text).map(id -> text.substring(0, text.length() - id.length() - 1)).orElse(text));
    }

    /** Whether one checkpoint was named, in place of the newest. */
    public static boolean isNamed(String text) {
        return id(text).isPresent();
    }

    private static Optional<String> id(String text) {
        Matcher matcher = NAMED.matcher(text);
        return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    private static ImageLocation find(Tiers tiers, Optional<String> id, ImageKey key, Consumer<String> warn) {
        List<TieredCatalogue.Entry> entries = list(tiers, key);
        List<Catalogue.Entry> places =
                entries.stream().flatMap(entry -> entry.places().stream()).map(TieredCatalogue.Place::entry).toList();
        Optional<TieredCatalogue.Entry> found = id.isPresent()
                ? entries.stream().filter(entry -> entry.name().equals(id.get())).findFirst()
                : entries.stream().filter(entry -> entry.complete().isPresent()).reduce((earlier, later) -> later);
        TieredCatalogue.Place best = found.orElseThrow(() -> id.isEmpty() ? noneComplete(tiers.format(), places)
                : new Failure(ExitCode.NOT_FOUND, "no " + id.get() + " in " + tiers.format() + "; there "
                        + (entries.isEmpty() ? "is none" : "are " + names(places))))
                .best();
        Catalogue.Entry entry = best.entry();
        if (entry.state() == Catalogue.State.COMPLETE) {
            new SkippedCheckpoints(
                    id.isEmpty() ? places : places.stream().filter(place -> place.id() == entry.id()).toList())
                    .tell(entry, warn);
        }
        return in(tiers, best);
    }

    /**
     * All checkpoints of a directory, or of all tiers, a copy for each: without what only hosts have of those that are
     * whole elsewhere.
     */
    public static List<ImageLocation> all(String text, ImageKey key) {
        return Tiers.parse(text)
                .map(tiers -> list(tiers, key).stream()
                        .flatMap(entry -> entry.places().stream()
                                .filter(place -> !place.entry().onHosts() || entry.best().equals(place)))
                        .map(place -> in(tiers, place)).toList())
                .orElseGet(() -> list(directory(text), key).stream()
                        .map(entry -> new ImageLocation(directory(text), entry)).toList());
    }

    /** All checkpoints of the tiers, oldest first; a tier that cannot be read is warned of, when another can. */
    public static List<TieredCatalogue.Entry> list(Tiers tiers, ImageKey key) {
        try {
            TieredCatalogue.Listing listing = tiers.catalogue(key).list();
            listing.unreadable()
                    .forEach((tier, problem) -> Messages.warn("tier " + tier.name() + ": " + FileErrors.text(problem)));
            return listing.entries();
        } catch (ImageError e) {
            throw Failure.of("listing the checkpoints of " + tiers.format(), e);
        }
    }

    /**
     * A directory of the command line; an empty one is a variable that was not set, rather than the current directory.
     */
    public static Path directory(String text) {
        if (text.isEmpty()) {
            throw new Failure(ExitCode.USAGE, "the directory name is empty; give . for the current directory");
        }
        return Path.of(text);
    }

    private static Failure noneComplete(String parent, List<Catalogue.Entry> entries) {
        List<Catalogue.Entry> corrupt =
                entries.stream().filter(entry -> entry.state() == Catalogue.State.CORRUPT).toList();
        if (!corrupt.isEmpty()) {
            return Failure.of("no usable checkpoint in " + parent, corrupt.getLast().problem());
        }
        return new Failure(ExitCode.NOT_FOUND,
                "no complete checkpoint in " + parent + (entries.isEmpty() ? "" : "; incomplete: " + names(entries)));
    }

    private static String names(List<Catalogue.Entry> entries) {
        return String.join(", ", entries.stream().map(Catalogue.Entry::name).distinct().toList());
    }

    /** All checkpoints of a directory, oldest first; 66 when there is no such directory. */
    public static List<Catalogue.Entry> list(Path parent, ImageKey key) {
        try {
            return new Catalogue(parent, key).list();
        } catch (NoSuchFileException | NotDirectoryException e) {
            throw new Failure(ExitCode.NOT_FOUND, "no directory " + parent, e);
        } catch (IOException e) {
            throw Failure.of("listing the checkpoints of " + parent, e);
        }
    }

    /** Opens it; 66 when it is incomplete, 65 when it is corrupt, 69 when its parts are on its hosts. */
    public CheckpointReader open(ImageKey key) {
        if (entry.state() == Catalogue.State.INCOMPLETE) {
            throw new Failure(ExitCode.NOT_FOUND, entry.directory() + " is not complete: "
                    + (entry.inProgress() ? "it is being written" : "its writer died"));
        }
        if (entry.onHosts()) {
            throw new Failure(ExitCode.UNSUPPORTED, entry.directory()
                    + " has not been copied to the slow tier, and its hosts ("
                    + String.join(", ", entry.manifest().nodes().stream().map(Manifest.Node::host).distinct().toList())
                    + ") have its parts: a restart with agents on them (--starter) and both tiers copies it first");
        }
        return openJob(key);
    }

    /** The same, for what is the whole job's alone, which its lead has. */
    public CheckpointReader openJob(ImageKey key) {
        if (entry.state() == Catalogue.State.CORRUPT) {
            throw Failure.of("opening " + entry.directory(), entry.problem());
        }
        try {
            CheckpointReader reader = CheckpointReader.open(entry.directory(), key).naming(MemoryOwners::of);
            if (entry.mac() != null && !entry.mac().equals(reader.mac())) {
                reader.close();
                throw new Failure(ExitCode.BUSY, entry.directory()
                        + " is another checkpoint than a moment ago: somebody exchanged it; try again");
            }
            copy.ifPresent(reader::copied);
            return reader;
        } catch (IOException e) {
            throw Failure.of("opening " + entry.directory(), e);
        }
    }
}
