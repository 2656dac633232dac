package org.udckpt.job.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.udckpt.image.Catalogue;
import org.udckpt.image.CheckpointReader;
import org.udckpt.image.ImageKey;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

/**
 * What {@code DIR[/ID]} of the command line means.
 *
 * @param parent directory of all checkpoints of the job
 * @param entry the one checkpoint
 */
public record ImageLocation(Path parent, Catalogue.Entry entry) {

    /** A checkpoint by its id, in whatever state, or the newest complete one of a directory; 66 when there is none. */
    public static ImageLocation find(String text, ImageKey key) {
        Path path = directory(text).toAbsolutePath().normalize();
        boolean named = path.getFileName() != null && path.getFileName().toString().matches("ckpt-\\d{4,18}");
        Path parent = named ? path.getParent() : path;
        List<Catalogue.Entry> entries = list(parent, key);
        if (named) {
            return entries.stream().filter(entry -> entry.name().equals(path.getFileName().toString())).findFirst()
                    .map(entry -> new ImageLocation(parent, entry))
                    .orElseThrow(() -> new Failure(ExitCode.NOT_FOUND, "no checkpoint " + path.getFileName() + " in " + parent + "; there "
                            + (entries.isEmpty() ? "is none" : "are " + names(entries))));
        }
        return entries.stream().filter(entry -> entry.state() == Catalogue.State.COMPLETE).reduce((earlier, later) -> later)
                .map(entry -> new ImageLocation(parent, entry)).orElseThrow(() -> noneComplete(parent, entries));
    }

    /** A directory of the command line; an empty one is a variable that was not set, rather than the current directory. */
    public static Path directory(String text) {
        if (text.isEmpty()) {
            throw new Failure(ExitCode.USAGE, "the directory's name is empty; for the current one give .");
        }
        return Path.of(text);
    }

    private static Failure noneComplete(Path parent, List<Catalogue.Entry> entries) {
        List<Catalogue.Entry> corrupt = entries.stream().filter(entry -> entry.state() == Catalogue.State.CORRUPT).toList();
        if (!corrupt.isEmpty()) {
            return Failure.of("no usable checkpoint in " + parent, corrupt.getLast().problem());
        }
        return new Failure(ExitCode.NOT_FOUND, "no complete checkpoint in " + parent + (entries.isEmpty() ? "" : "; incomplete: " + names(entries)));
    }

    private static String names(List<Catalogue.Entry> entries) {
        return String.join(", ", entries.stream().map(Catalogue.Entry::name).toList());
    }

    /** All checkpoints of a directory, oldest first; 66 when there is no such directory. */
    public static List<Catalogue.Entry> list(Path parent, ImageKey key) {
        if (!Files.isDirectory(parent)) {
            throw new Failure(ExitCode.NOT_FOUND, "no directory " + parent);
        }
        try {
            return new Catalogue(parent, key).list();
        } catch (IOException e) {
            throw Failure.of("listing the checkpoints of " + parent, e);
        }
    }

    /** Opens it; 66 when it is incomplete, 65 when it is corrupt. */
    public CheckpointReader open(ImageKey key) {
        if (entry.state() == Catalogue.State.INCOMPLETE) {
            throw new Failure(ExitCode.NOT_FOUND, entry.directory() + " is not complete: " + (entry.inProgress() ? "it is being written" : "its writer died"));
        }
        try {
            return CheckpointReader.open(entry.directory(), key);
        } catch (IOException e) {
            throw Failure.of("opening " + entry.directory(), e);
        }
    }
}
