package org.udckpt.image.manifest;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.ImageKey;

/**
 * Writes a manifest as text: a first line with the format's version, one item a line, last the MAC over all the lines
 * before it. Free text is percent-encoded, so a line has a fixed number of words.
 */
public final class ManifestText {
    static final String MAGIC = "udckpt-image ";

    private ManifestText() {}

    public static byte[] seal(Manifest manifest, ImageKey key) {
        byte[] body = body(manifest, key).getBytes(StandardCharsets.US_ASCII);
        String mac = "mac " + HexFormat.of().formatHex(key.mac(body)) + "\n";
        byte[] sealed = java.util.Arrays.copyOf(body, body.length + mac.length());
        System.arraycopy(mac.getBytes(StandardCharsets.US_ASCII), 0, sealed, body.length, mac.length());
        return sealed;
    }

    /** The MAC at the end of a sealed manifest, in hexadecimal. */
    public static String mac(byte[] sealed) {
        return new String(sealed, sealed.length - 65, 64, StandardCharsets.US_ASCII);
    }

    static String part(PartReport part) {
        StringBuilder text = new StringBuilder(PartReport.MAGIC).append(Manifest.VERSION).append('\n');
        line(text, "node", part.node().index(), encode(part.node().host()));
        line(text, "bytes", part.bytes());
        line(text, "write-ns", part.writeNanos());
        for (long stop : part.stops()) {
            line(text, "stop-ns", stop);
        }
        for (long base : part.bases()) {
            line(text, "base", base);
        }
        files(text, part.files(), Manifest.VERSION);
        return text.toString();
    }

    private static void files(StringBuilder text, List<Manifest.FileEntry> files, int version) {
        for (Manifest.FileEntry f : files) {
            line(text, "file", f.name(), f.length(), f.sha256() != null ? "sha256" : cover(version),
                    f.sha256() != null ? f.sha256() : f.cover());
        }
    }

    static String body(Manifest m, ImageKey key) {
        StringBuilder text = new StringBuilder(MAGIC).append(m.version()).append('\n');
        line(text, "key", key.id());
        line(text, "id", m.id());
        line(text, "taken-at", m.takenAt());
        line(text, "architecture", encode(m.architecture()));
        line(text, "integrity", m.integrity());
        if (m.salt() != null) {
            line(text, "salt", m.salt());
        }
        line(text, "ranks", m.ranks());
        line(text, "bytes", m.bytes());
        line(text, "stored-bytes", m.storedBytes());
        line(text, "stop-max-ns", m.stopMaxNanos());
        line(text, "stop-median-ns", m.stopMedianNanos());
        line(text, "write-ns", m.writeNanos());
        if (m.encryption() != null) {
            line(text, "encryption", m.encryption().cipher(), m.encryption().salt(), m.encryption().check());
        }
        for (Manifest.Base base : m.bases()) {
            line(text, "base", base.id(), base.mac());
        }
        for (Map.Entry<String, String> label : m.labels().entrySet()) {
            line(text, "label", encode(label.getKey()), encode(label.getValue()));
        }
        for (Manifest.Node node : m.nodes()) {
            line(text, "node", node.index(), encode(node.host()));
        }
        files(text, m.files(), m.version());
        return text.toString();
    }

    /** What covers a stripe file: a table of blocks; in version 1 each chunk was one. */
    public static String cover(int version) {
        return version == 1 ? ImageNames.CHUNKS : ImageNames.BLOCKS;
    }

    private static void line(StringBuilder text, Object... words) {
        for (int i = 0; i < words.length; i++) {
            text.append(i == 0 ? "" : " ").append(words[i]);
        }
        text.append('\n');
    }

    /** Empty text becomes a lone "%", so that every word has a length. */
    public static String encode(String text) {
        if (text.isEmpty()) {
            return "%";
        }
        StringBuilder out = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            if (b > ' ' && b < 0x7f && b != '%') {
                out.append((char) b);
            } else {
                out.append('%').append(HexFormat.of().toHexDigits(b));
            }
        }
        return out.toString();
    }

    /**
     * @throws IllegalArgumentException when the word is not what {@link #encode} writes
     */
    public static String decode(String word) {
        if (word.equals("%")) {
            return "";
        }
        byte[] bytes = new byte[word.length()];
        int n = 0;
        for (int i = 0; i < word.length(); i++) {
            char c = word.charAt(i);
            if (c == '%' && i + 3 > word.length()) {
                throw new IllegalArgumentException("truncated after '%': " + word);
            } else if (c == '%') {
                bytes[n++] = (byte) HexFormat.fromHexDigits(word, i + 1, i + 3);
                i += 2;
            } else {
                bytes[n++] = (byte) c;
            }
        }
        String text = new String(bytes, 0, n, StandardCharsets.UTF_8);
        if (!encode(text).equals(word)) {
            throw new IllegalArgumentException("not in canonical form: " + word);
        }
        return text;
    }
}
