package org.udckpt.image.manifest;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.image.ImageError;
import org.udckpt.image.Images;

/** A manifest with and without the right seal: the first byte says which. */
@Fuzzes({ManifestParser.class, ManifestText.class})
public final class ManifestFuzz {
    private static final Path FILE = Path.of("/checkpoints/ckpt-0002/manifest");

    private ManifestFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        byte[] text = Arrays.copyOfRange(input, 1, input.length);
        try {
            ManifestParser.open((input[0] & 1) == 0 ? text : sealed(text), Images.KEY, FILE);
        } catch (ImageError e) {
            // as promised
        }
    }

    private static byte[] sealed(byte[] body) {
        byte[] mac =
                ("mac " + HexFormat.of().formatHex(Images.KEY.mac(body)) + "\n").getBytes(StandardCharsets.US_ASCII);
        byte[] sealed = Arrays.copyOf(body, body.length + mac.length);
        System.arraycopy(mac, 0, sealed, body.length, mac.length);
        return sealed;
    }
}
