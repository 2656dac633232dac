package org.udckpt.image.write;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.ImageCipher;
import org.udckpt.image.manifest.ManifestText;

/**
 * What another process, on another node, has to know in order to write its part of a checkpoint; beside the user's key
 * and the form of images.
 *
 * @param directory of the checkpoint, as all nodes see it
 * @param base the checkpoint of which pages need not be stored again; 0: store everything
 * @param key names the key that seals it ({@link org.udckpt.image.key.ImageKey#id})
 * @param integrity what protects memory
 * @param salt as the manifest will have it; null where blocks have no tags
 * @param encryption null when it is not encrypted
 */
public record PartOrder(Path directory, long base, String key, Manifest.Integrity integrity, String salt,
        Manifest.Encryption encryption) {
    /** In the place of a file's name in errors. */
    private static final Path ORDER = Path.of("(order for a node's part)");
    private static final Pattern FORM = Pattern
            .compile("part (\\S+) (0|[1-9]\\d{0,17}) ([0-9a-f]{16}) ([A-Z0-9]{1,16})(?: salt ([0-9a-f]{64}))?(?: "
                    + ImageCipher.NAME + " ([0-9a-f]{64}) ([0-9a-f]{32}))?\n");

    /** The number of the checkpoint. */
    public long checkpoint() {
        return ImageNames.id(directory).orElseThrow();
    }

    /** The same, to be written elsewhere. @param parent of the directory that the checkpoint has there */
    public PartOrder in(Path parent) {
        return new PartOrder(parent.resolve(directory.getFileName()), base, key, integrity, salt, encryption);
    }

    public byte[] encode() {
        String sealed = encryption == null ? ""
                : " " + encryption.cipher() + " " + encryption.salt() + " " + encryption.check();
        String tagged = salt == null ? "" : " salt " + salt;
        return ("part " + ManifestText.encode(directory.toString()) + " " + base + " " + key + " " + integrity + tagged
                + sealed + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** @throws ImageError.Corrupt if {@link #encode} gives nothing like it */
    public static PartOrder decode(byte[] bytes) throws ImageError {
        Matcher form = FORM.matcher(new String(bytes, StandardCharsets.US_ASCII));
        if (!form.matches()) {
            throw new ImageError.Corrupt(ORDER, -1, "not an order: all nodes need the same udckpt");
        }
        PartOrder order;
        try {
            order = new PartOrder(Path.of(ManifestText.decode(form.group(1))), Long.parseLong(form.group(2)),
                    form.group(3),
                    Manifest.Integrity.valueOf(form.group(4)), form.group(5), form.group(6) == null ? null
                            : new Manifest.Encryption(ImageCipher.NAME, form.group(6), form.group(7)));
        } catch (IllegalArgumentException e) {
            throw new ImageError.Corrupt(ORDER, -1, "not an order: " + e.getMessage(), e);
        }
        if ((order.salt != null) != (order.integrity == Manifest.Integrity.GMAC && order.encryption == null)) {
            throw new ImageError.Corrupt(ORDER, -1,
                    "integrity " + order.integrity + (order.salt == null ? " without" : " with") + " a salt");
        }
        boolean plain = order.directory.isAbsolute() && order.directory.normalize().equals(order.directory)
                && ImageNames.id(order.directory).isPresent();
        if (!plain || !Arrays.equals(order.encode(), bytes)) {
            throw new ImageError.Corrupt(ORDER, -1, "names " + order.directory
                    + ", which is not a checkpoint directory");
        }
        return order;
    }
}
