package org.udckpt.image.manifest;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.SmallFiles;
import org.udckpt.image.storage.StorageIo;

/** Opens the manifest in a checkpoint directory and holds it against the files there. */
public final class ManifestFile {
    private ManifestFile() {}

    /**
     * Reads the manifest, checks its seal, that every file it names has its length, and that the checkpoints that it is
     * based on are there, and as whole. Of one whose hosts have the parts of its nodes ({@link HostParts}), the job's
     * files.
     *
     * @throws ImageError.Missing when there is no manifest: the checkpoint never came to be
     */
    public static Sealed load(Path directory, ImageKey key, StorageIo io) throws IOException {
        return load(directory, one -> alone(one, key, io));
    }

    /**
     * As {@link #load}, for who reads only some of its files: of the others, here and in the checkpoints that it is
     * based on, the lengths are not looked at.
     *
     * @param wanted says of a file's name whether its length is
     */
    public static Sealed load(Path directory, ImageKey key, StorageIo io, Predicate<String> wanted) throws IOException {
        return load(directory, one -> alone(one, key, io, wanted));
    }

    static Sealed load(Path directory, Alone alone) throws IOException {
        Sealed sealed = alone.read(directory);
        for (Manifest.Base base : sealed.manifest().bases()) {
            base(directory, base, alone);
        }
        return sealed;
    }

    /**
     * Reads the manifest of one checkpoint, without a look at what it is based on: {@link #alone}, or what that said
     * before.
     */
    interface Alone {
        Sealed read(Path directory) throws IOException;
    }

    /**
     * The manifest of a checkpoint that the one in {@code directory} is based on: exactly that one, whole. An error's
     * file is the newer checkpoint's, whose problem it is; a corrupt one that was not asked for stays named as itself.
     */
    public static Manifest base(Path directory, Manifest.Base base, ImageKey key, StorageIo io) throws IOException {
        return base(directory, base, one -> alone(one, key, io));
    }

    /** As {@link #base}, for who reads only some of its files. */
    public static Manifest base(Path directory, Manifest.Base base, ImageKey key, StorageIo io,
            Predicate<String> wanted) throws IOException {
        return base(directory, base, one -> alone(one, key, io, wanted));
    }

    private static Manifest base(Path directory, Manifest.Base base, Alone alone) throws IOException {
        Path other = directory.resolveSibling(ImageNames.directory(base.id()));
        String needs = "holds the changes since " + other.getFileName() + ", ";
        try {
            Sealed sealed = alone.read(other);
            if (!sealed.mac().equals(base.mac())) {
                throw new ImageError.Corrupt(directory.resolve(ImageNames.MANIFEST), -1, needs + "but " + other
                        + " is a different checkpoint");
            }
            return sealed.manifest();
        } catch (ImageError.Missing | NoSuchFileException gone) {
            throw new ImageError.Missing(other, "incomplete, but " + directory.getFileName() + " " + needs
                    + "and cannot be used without it: "
                    + gone.getMessage());
        }
    }

    /** As {@link #load}, without a look at what it is based on: enough for one whose blocks a newer one needs. */
    static Sealed alone(Path directory, ImageKey key, StorageIo io) throws IOException {
        return alone(directory, key, io, file -> true);
    }

    private static Sealed alone(Path directory, ImageKey key, StorageIo io, Predicate<String> wanted)
            throws IOException {
        Path file = directory.resolve(ImageNames.MANIFEST);
        Sealed sealed;
        try {
            sealed = ManifestParser.open(SmallFiles.read(io, file, -1, ManifestParser.MAX_BYTES), key, file);
        } catch (ImageError.Missing e) {
            throw new ImageError.Missing(file, "missing: not a complete checkpoint");
        }
        Manifest manifest = sealed.manifest();
        OptionalLong id = ImageNames.id(directory);
        if (id.isEmpty() || id.getAsLong() != manifest.id()) {
            throw new ImageError.Corrupt(file, -1, "belongs to " + ImageNames.directory(manifest.id())
                    + ": moved or copied here");
        }
        checkLengths(directory, manifest, io, wanted);
        return sealed;
    }

    /**
     * A file that a node says it has written: here it must be seen alike.
     *
     * @param whose names the node
     */
    public static void checkPart(Path file, long expected, String whose, StorageIo io) throws IOException {
        try (StorageIo.Input input = io.open(file)) {
            if (input.length() != expected) {
                throw new ImageError.Corrupt(file, Math.min(expected, input.length()), input.length()
                        + " bytes long here; " + whose + " wrote " + expected);
            }
        } catch (NoSuchFileException e) {
            throw new ImageError.Missing(file, "written by " + whose + ", but not visible here: images of several "
                    + "nodes need a directory that all nodes share");
        }
    }

    private static void checkLengths(Path directory, Manifest manifest, StorageIo io, Predicate<String> wanted)
            throws IOException {
        Predicate<String> here = wanted;
        for (Manifest.FileEntry entry : manifest.files()) {
            try {
                if (here.test(entry.name())) {
                    checkLength(directory.resolve(entry.name()), entry.length(), io);
                }
            } catch (ImageError.Missing e) {
                if (entry.name().startsWith(ImageNames.JOB) || !HostParts.isOf(directory, io)) {
                    throw e;
                }
                here = wanted.and(name -> name.startsWith(ImageNames.JOB)); // its hosts have the others
            }
        }
    }

    private static void checkLength(Path file, long expected, StorageIo io) throws IOException {
        try (StorageIo.Input input = io.open(file)) {
            if (input.length() != expected) {
                throw new ImageError.Corrupt(file, Math.min(expected, input.length()),
                        input.length() + " bytes long; the manifest says " + expected);
            }
        } catch (NoSuchFileException e) {
            throw new ImageError.Missing(file, "missing, but named by the manifest");
        }
    }

    /** The second half of an error about a damaged checkpoint: what to use instead. */
    public static String advice(Path directory, ImageKey key, StorageIo io) {
        long id = ImageNames.id(directory).orElse(0);
        try {
            List<Path> siblings = io.list(directory.getParent());
            for (Path sibling : siblings.reversed().stream().filter(p -> ImageNames.id(p).orElse(Long.MAX_VALUE) < id)
                    .sorted((a, b) -> Long.compare(ImageNames.id(b).orElseThrow(), ImageNames.id(a).orElseThrow()))
                    .toList()) {
                if (io.kind(sibling) == StorageIo.Kind.DIRECTORY && isComplete(sibling, key, io)) {
                    return "; the newest complete checkpoint before it is " + sibling.getFileName();
                }
            }
            return "; there is no complete checkpoint before it";
        } catch (IOException e) {
            return "; older checkpoints could not be listed (" + e.getMessage() + ")";
        }
    }

    private static boolean isComplete(Path directory, ImageKey key, StorageIo io) throws IOException {
        try {
            load(directory, key, io);
            return true;
        } catch (ImageError e) {
            return false;
        }
    }
}
