package org.udckpt.image;

import java.time.Instant;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a checkpoint consists of. Its file is written last and is the only thing that makes a checkpoint exist.
 *
 * @param version of the format: {@link #VERSION} when written here
 * @param id number of the checkpoint, as in its directory's name
 * @param takenAt when the ranks were stopped
 * @param architecture of the processes, as {@code uname -m} names it
 * @param integrity what protects the stripe files
 * @param salt 32 bytes in hexadecimal, of which and the user's key the key of the blocks' tags is made; null unless
 *     {@link #tagged}
 * @param ranks MPI ranks in the image
 * @param bytes bytes of memory in the image
 * @param storedBytes bytes of all files together, without the manifest
 * @param stopMaxNanos the application's longest stop (suspend to resume) over the ranks; 0 when not measured
 * @param stopMedianNanos the median of the same
 * @param writeNanos from the first page read to the last stripe file synced
 * @param encryption how stripes and tables are encrypted; null when they are not
 * @param bases older checkpoints in the same directory, in whose blocks a part of the memory is; by id
 * @param labels whatever the job wants to find again, such as its name and command
 * @param nodes by index
 * @param files every file of the image, by name
 */
public record Manifest(int version, long id, Instant takenAt, String architecture, Integrity integrity, String salt,
        int ranks, long bytes,
        long storedBytes, long stopMaxNanos, long stopMedianNanos, long writeNanos,
        Encryption encryption, List<Base> bases, SortedMap<String, String> labels, List<Node> nodes,
        List<FileEntry> files) {
    /** The version of the format that this program writes, and the newest that it reads. */
    public static final int VERSION = 4;
    /** The first version whose blocks may be {@link org.udckpt.image.block.Codec#PLANES}. */
    public static final int FIRST_WITH_PLANES = 4;
    /** The oldest version that this program reads. */
    public static final int OLDEST_VERSION = 1;

    public Manifest {
        labels = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(labels));
        bases = List.copyOf(bases);
        nodes = List.copyOf(nodes);
        files = List.copyOf(files);
    }

    /** How the bytes of stripe files are protected; tables are always under SHA-256. */
    public enum Integrity {
        /** XXH3-64 per chunk: finds accidents, not intent. */
        XXH3,
        /** XXH3-64 and SHA-256 per chunk: also finds intent, through the MAC over the manifest. */
        SHA256,
        /**
         * XXH3-64, and a tag by AES-256-GMAC (NIST SP 800-38D) under a key that is made of the user's: finds intent,
         * too, for a fifth of the time.
         */
        GMAC
    }

    /** Whether blocks have tags of {@link Integrity#GMAC}; in an encrypted image they are sealed by the encryption. */
    public boolean tagged() {
        return integrity == Integrity.GMAC && encryption == null;
    }

    /**
     * How a checkpoint is encrypted; see docs/reference/image-format.md.
     *
     * @param cipher "AES-256-GCM"
     * @param salt   32 bytes in hexadecimal, of which and the user's secret the checkpoint's key is made
     * @param check  16 bytes in hexadecimal, by which a wrong secret is told
     */
    public record Encryption(String cipher, String salt, String check) {}

    /**
     * A checkpoint that this one needs.
     *
     * @param mac the last line of its manifest: exactly that checkpoint, not another one of the same number
     */
    public record Base(long id, String mac) {}

    /** A machine that ranks ran on. */
    public record Node(int index, String host) {}

    /**
     * One file.
     *
     * @param name   without directory
     * @param length bytes
     * @param sha256 of the content, in lower-case hexadecimal; null for a stripe file
     * @param cover  the table file whose rows cover this stripe file completely; null for a table
     */
    public record FileEntry(String name, long length, String sha256, String cover) {
        public static FileEntry table(String name, long length, String sha256) {
            return new FileEntry(name, length, sha256, null);
        }

        public static FileEntry stripe(String name, long length, String cover) {
            return new FileEntry(name, length, null, cover);
        }
    }

    /** The entry of a file, null when the image has none of that name. */
    public FileEntry file(String name) {
        return files.stream().filter(f -> f.name().equals(name)).findFirst().orElse(null);
    }
}
