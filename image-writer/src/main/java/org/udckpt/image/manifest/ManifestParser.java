package org.udckpt.image.manifest;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.ImageCipher;
import org.udckpt.image.key.ImageKey;
import org.udckpt.linux.Files;
import org.udckpt.linux.User;

/**
 * Reads a sealed manifest. The version line comes first, since a later version may seal otherwise; then the MAC;
 * only what it covers is read further.
 */
public final class ManifestParser {
    /** Room for some hundred thousand files; a longer manifest is refused unread. */
    public static final int MAX_BYTES = 32 << 20;
    /** Whoever is refused for want of a key looks for one: what that would lead to is said first. */
    private static final String OF_ANOTHER = "; the checkpoint belongs to user %d, and a restart by you would run "
            + "its processes as user %d: run as that user (su, sudo -u)";
    private static final Pattern VERSION_LINE = Pattern.compile("udckpt-image (0|[1-9]\\d{0,8})");
    private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
    private static final Pattern CHECK = Pattern.compile("[0-9a-f]{32}");
    /** In the place of a file's name in errors. */
    static final Path REPORT = Path.of("(report of a node's part)");
    /** The first version in which there is {@link Manifest.Integrity#GMAC}. */
    private static final int FIRST_TAGGED = 3;
    private static final int MAC_LINE = "mac ".length() + 64 + 1;

    private final Path file;
    private final List<String> lines;
    private int next;
    private int offset;

    private ManifestParser(Path file, List<String> lines) {
        this.file = file;
        this.lines = lines;
    }

    /** A {@link PartReport}: not yet held against its own name. */
    static PartReport part(byte[] bytes) throws ImageError {
        if (bytes.length > PartReport.MAX_BYTES) {
            throw new ImageError.Corrupt(REPORT, -1, bytes.length + " bytes; the limit is " + PartReport.MAX_BYTES);
        }
        String text = new String(bytes, StandardCharsets.US_ASCII);
        ManifestParser parser = new ManifestParser(REPORT, Arrays.asList(text.split("\n", -1)));
        PartReport report = parser.parsePart();
        if (!ManifestText.part(report).equals(text)) {
            throw new ImageError.Corrupt(REPORT, -1, "malformed report");
        }
        return report;
    }

    private PartReport parsePart() throws ImageError {
        try {
            if (!lines.getFirst().equals(PartReport.MAGIC + Manifest.VERSION)) {
                throw corrupt("the first line is not '" + PartReport.MAGIC + Manifest.VERSION
                        + "': all nodes need the same udckpt");
            }
            next = 1;
            offset = lines.getFirst().length() + 1;
            List<Manifest.Node> nodes = nodes();
            if (nodes.size() != 1) {
                throw corrupt(nodes.size() + " nodes instead of one");
            }
            long bytes = number("bytes");
            long nanos = number("write-ns");
            List<Long> stops = new ArrayList<>();
            while (at("stop-ns")) {
                stops.add(number("stop-ns"));
            }
            SortedSet<Long> bases = new TreeSet<>();
            while (at("base")) {
                bases.add(number("base"));
            }
            PartReport report = new PartReport(nodes.getFirst(), files(Manifest.VERSION), bytes, nanos, stops, bases);
            if (next != lines.size() - 1 || !lines.get(next).isEmpty()) {
                throw corrupt("unexpected line '" + lines.get(next) + "'");
            }
            return report;
        } catch (IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
            throw new ImageError.Corrupt(file, offset, "not a report: " + e.getMessage(), e);
        }
    }

    static Sealed open(byte[] sealed, ImageKey key, Path file) throws ImageError {
        int version = version(sealed, file);
        int bodyLength = sealed.length - MAC_LINE;
        String tail = bodyLength <= 0 ? "" : new String(sealed, bodyLength, MAC_LINE, StandardCharsets.US_ASCII);
        if (!tail.startsWith("mac ") || !tail.endsWith("\n")
                || !SHA256.matcher(tail.substring(4, MAC_LINE - 1)).matches()) {
            throw new ImageError.Corrupt(file, Math.max(0, bodyLength), "does not end with a MAC: truncated or "
                    + "changed");
        }
        byte[] body = Arrays.copyOf(sealed, bodyLength);
        if (key.missing() != null) {
            throw new ImageError.NoKey(file, "sealed with key " + keyName(body) + ", but there is no key in "
                    + key.missing()
                    + (isOwn(file) ? ": put that key there, or set UDCKPT_KEY_FILE to its file"
                            : OF_ANOTHER.formatted(owner(file), User.id())));
        }
        if (!MessageDigest.isEqual(key.mac(body), HexFormat.of().parseHex(tail, 4, MAC_LINE - 1))) {
            throw wrongMac(body, key, file);
        }
        String text = new String(body, StandardCharsets.US_ASCII);
        Manifest manifest = new ManifestParser(file, Arrays.asList(text.split("\n", -1))).parse(version);
        // One manifest has one form: what reads alike but is written otherwise was not written by us.
        if (!ManifestText.body(manifest, key).equals(text)) {
            throw new ImageError.Corrupt(file, -1, "malformed manifest");
        }
        return new Sealed(manifest, tail.substring(4, MAC_LINE - 1));
    }

    private static boolean isOwn(Path file) {
        return owner(file) == User.id();
    }

    /** This user's, where it cannot be told: then there is nothing to warn of. */
    private static int owner(Path file) {
        Files.Stat stat = Files.tryStat(file.toString());
        return stat == null ? User.id() : stat.uid();
    }

    private static int version(byte[] sealed, Path file) throws ImageError {
        String head = new String(sealed, 0, Math.min(sealed.length, 64), StandardCharsets.US_ASCII);
        var matcher = VERSION_LINE.matcher(head.contains("\n") ? head.substring(0, head.indexOf('\n')) : "");
        if (!matcher.matches()) {
            throw new ImageError.Corrupt(file, 0,
                    "not a manifest: the first line is not '" + ManifestText.MAGIC + "VERSION'");
        }
        int version = Integer.parseInt(matcher.group(1));
        if (version > Manifest.VERSION) {
            throw new ImageError.TooNew(file, "format version " + version + "; this udckpt reads up to "
                    + Manifest.VERSION + ": use a newer udckpt");
        }
        if (version < Manifest.OLDEST_VERSION) {
            throw new ImageError.TooOld(file, "format version " + version + "; this udckpt reads "
                    + Manifest.OLDEST_VERSION + " and later: use an older udckpt");
        }
        return version;
    }

    /** The key's name is not yet trusted here; it only chooses between two ways to refuse. */
    private static ImageError wrongMac(byte[] body, ImageKey key, Path file) {
        String name = keyName(body);
        if (!name.isEmpty() && !name.equals(key.id())) {
            return new ImageError.Foreign(file, "sealed with key " + name + ", yours is " + key.id() + (isOwn(file)
                    ? ": set UDCKPT_KEY_FILE to the right key" : OF_ANOTHER.formatted(owner(file), User.id())));
        }
        return new ImageError.Corrupt(file, -1, "its MAC is wrong: the manifest was changed after it was written");
    }

    /** At most so much of it as a key's name has; empty: there is none. */
    private static String keyName(byte[] body) {
        String text = new String(body, StandardCharsets.US_ASCII);
        int at = text.indexOf("\nkey ");
        int end = at < 0 ? -1 : text.indexOf('\n', at + 1);
        return end < 0 ? "" : text.substring(at + 5, Math.min(end, at + 5 + 64));
    }

    private Manifest parse(int version) throws ImageError {
        try {
            next = 1;
            offset = lines.get(0).length() + 1;
            one("key");
            long id = number("id");
            Instant takenAt = Instant.parse(one("taken-at"));
            String architecture = ManifestText.decode(one("architecture"));
            Manifest.Integrity integrity = Manifest.Integrity.valueOf(one("integrity"));
            String salt = at("salt") ? one("salt") : null;
            int ranks = Math.toIntExact(number("ranks"));
            long bytes = number("bytes");
            long stored = number("stored-bytes");
            long stopMax = number("stop-max-ns");
            long stopMedian = number("stop-median-ns");
            long write = number("write-ns");
            Manifest manifest = new Manifest(version, id, takenAt, architecture, integrity, salt, ranks, bytes, stored,
                    stopMax, stopMedian,
                    write, version == 1 ? null : encryption(), version == 1 ? List.of() : bases(id), labels(), nodes(),
                    files(version));
            if (next != lines.size() - 1 || !lines.get(next).isEmpty()) {
                throw corrupt("unexpected line '" + lines.get(next) + "'");
            }
            if (version < FIRST_TAGGED && integrity == Manifest.Integrity.GMAC || manifest.tagged() != (salt != null)
                    || salt != null && !SHA256.matcher(salt).matches()) {
                throw corrupt("integrity " + integrity + (salt == null ? " without" : " with") + " a salt, in version "
                        + version);
            }
            return manifest;
        } catch (IllegalArgumentException | ArithmeticException | DateTimeException | IndexOutOfBoundsException e) {
            throw new ImageError.Corrupt(file, offset, "not a manifest: " + e.getMessage(), e);
        }
    }

    private Manifest.Encryption encryption() throws ImageError {
        if (!at("encryption")) {
            return null;
        }
        String[] words = words("encryption", 4);
        if (!words[1].equals(ImageCipher.NAME)) {
            throw corrupt("encrypted with " + words[1] + "; this udckpt knows " + ImageCipher.NAME);
        }
        if (!SHA256.matcher(words[2]).matches() || !CHECK.matcher(words[3]).matches()) {
            throw corrupt("encryption without a salt or a check");
        }
        return new Manifest.Encryption(words[1], words[2], words[3]);
    }

    private List<Manifest.Base> bases(long id) throws ImageError {
        List<Manifest.Base> bases = new ArrayList<>();
        while (at("base")) {
            String[] words = words("base", 3);
            Manifest.Base base = new Manifest.Base(natural(words[1]), words[2]);
            long least = bases.isEmpty() ? 1 : bases.getLast().id() + 1;
            if (base.id() < least || base.id() >= id || !SHA256.matcher(words[2]).matches()) {
                throw corrupt(
                        "base " + base.id() + " twice, out of order, not older than " + id + ", or without a MAC");
            }
            bases.add(base);
        }
        return bases;
    }

    private SortedMap<String, String> labels() throws ImageError {
        SortedMap<String, String> labels = new TreeMap<>();
        while (at("label")) {
            String[] words = words("label", 3);
            if (labels.put(ManifestText.decode(words[1]), ManifestText.decode(words[2])) != null) {
                throw corrupt("label " + words[1] + " twice");
            }
        }
        return labels;
    }

    private List<Manifest.Node> nodes() throws ImageError {
        List<Manifest.Node> nodes = new ArrayList<>();
        while (at("node")) {
            String[] words = words("node", 3);
            int index = Math.toIntExact(natural(words[1]));
            if (!nodes.isEmpty() && nodes.getLast().index() >= index) {
                throw corrupt("node " + index + " twice or out of order");
            }
            nodes.add(new Manifest.Node(index, ManifestText.decode(words[2])));
        }
        return nodes;
    }

    private List<Manifest.FileEntry> files(int version) throws ImageError {
        List<Manifest.FileEntry> files = new ArrayList<>();
        Set<String> names = new HashSet<>();
        while (at("file")) {
            String[] words = words("file", 5);
            if (!ImageNames.FILE.matcher(words[1]).matches() || !names.add(words[1])) {
                throw corrupt("file '" + words[1] + "' twice, or not a file of an image");
            }
            if (words[3].equals("sha256") && SHA256.matcher(words[4]).matches()) {
                files.add(Manifest.FileEntry.table(words[1], natural(words[2]), words[4]));
            } else if (words[3].equals(ManifestText.cover(version)) && ImageNames.FILE.matcher(words[4]).matches()) {
                files.add(Manifest.FileEntry.stripe(words[1], natural(words[2]), words[4]));
            } else {
                throw corrupt("file '" + words[1] + "' without a digest");
            }
        }
        return files;
    }

    private boolean at(String name) {
        return lines.get(next).startsWith(name + " ");
    }

    private String one(String name) throws ImageError {
        return words(name, 2)[1];
    }

    private long number(String name) throws ImageError {
        return natural(one(name));
    }

    /** A number as it is written: digits only, no sign, no needless zero. */
    private static long natural(String word) {
        long value = Long.parseLong(word);
        if (value < 0 || !Long.toString(value).equals(word)) {
            throw new NumberFormatException("not a count: " + word);
        }
        return value;
    }

    private String[] words(String name, int count) throws ImageError {
        String line = lines.get(next);
        String[] words = line.split(" ", -1);
        if (!words[0].equals(name) || words.length != count) {
            throw corrupt("'" + name + "' with " + (count - 1) + " values expected, found '"
                    + line.substring(0, Math.min(80, line.length())) + "'");
        }
        next++;
        offset += line.length() + 1;
        return words;
    }

    private ImageError.Corrupt corrupt(String what) {
        return new ImageError.Corrupt(file, offset, what);
    }
}
