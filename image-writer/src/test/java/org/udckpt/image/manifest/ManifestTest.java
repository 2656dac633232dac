package org.udckpt.image.manifest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.ImageError;
import org.udckpt.image.Images;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.ImageCipher;

@Timeout(180)
class ManifestTest {
    private static final Path FILE = Path.of("manifest");
    private static final Manifest MANIFEST =
            new Manifest(Manifest.VERSION, 7, Instant.parse("2026-01-02T03:04:05.000000006Z"), "x86_64",
                    Manifest.Integrity.SHA256, null, 4, 1L << 40, 123, 5, 4, 3,
                    new Manifest.Encryption(ImageCipher.NAME, "cd".repeat(32), "ef".repeat(16)),
                    List.of(new Manifest.Base(2, "12".repeat(32)), new Manifest.Base(6, "34".repeat(32))),
                    new TreeMap<>(Map.of("command", "a b\n%c", "e", "", "unicode", "\u00fc\uD83D\uDE00")),
                    List.of(new Manifest.Node(0, "host a"), new Manifest.Node(3, "")),
                    List.of(Manifest.FileEntry.table("job.phases.arrow", 17, "ab".repeat(32)),
                            Manifest.FileEntry.stripe("node-0000.stripe-00", 4096, "node-0000.blocks.arrow")));

    @Test
    void everyFieldComesBack() throws Exception {
        byte[] sealed = ManifestText.seal(MANIFEST, Images.KEY);
        assertEquals(new Sealed(MANIFEST, ManifestText.mac(sealed)), ManifestParser.open(sealed, Images.KEY, FILE));
    }

    @Test
    void anyChangedByteIsRefused() {
        byte[] good = ManifestText.seal(MANIFEST, Images.KEY);
        for (int i = 0; i < good.length; i++) {
            byte[] bad = good.clone();
            bad[i] ^= 1;
            assertThrows(ImageError.class, () -> ManifestParser.open(bad, Images.KEY, FILE), "byte " + i);
            byte[] cut = Arrays.copyOf(good, i);
            assertThrows(ImageError.Corrupt.class, () -> ManifestParser.open(cut, Images.KEY, FILE), "cut to " + i);
        }
    }

    /**
     * Also what carries a right MAC ends in a manifest or an ImageError, and a manifest is written again as it was
     * read.
     */
    @Test
    void whateverIsSealedIsReadStrictly() {
        Random random = new Random(Images.seed("ManifestTest"));
        byte[] sealed = ManifestText.seal(MANIFEST, Images.KEY);
        byte[] body = Arrays.copyOf(sealed, sealed.length - 69);
        int refused = 0;
        for (int i = 0; i < 30_000; i++) {
            byte[] bad = reseal(damage(body, random));
            try {
                Manifest read = ManifestParser.open(bad, Images.KEY, FILE).manifest();
                assertEquals(new String(bad, StandardCharsets.US_ASCII),
                        new String(ManifestText.seal(read, Images.KEY), StandardCharsets.US_ASCII));
            } catch (ImageError e) {
                refused++;
            }
        }
        assertTrue(refused > 15_000, "only " + refused + " refused");
    }

    /** A salt is there just when blocks have tags. */
    @Test
    void aSaltBelongsToTags() throws Exception {
        String good = "cd".repeat(32);
        for (int version : new int[]{2, 3, 4}) {
            for (Manifest.Integrity integrity : Manifest.Integrity.values()) {
                for (Manifest.Encryption encryption : new Manifest.Encryption[]{null, MANIFEST.encryption()}) {
                    for (String salt : new String[]{null, good, "cd", good.toUpperCase(java.util.Locale.ROOT)}) {
                        Manifest manifest = new Manifest(version, 7, MANIFEST.takenAt(), "x86_64", integrity, salt, 4,
                                1, 1, 1, 1, 1, encryption, List.of(), new TreeMap<>(), List.of(), List.of());
                        boolean tagged = integrity == Manifest.Integrity.GMAC && encryption == null;
                        boolean right = (version >= 3 || integrity != Manifest.Integrity.GMAC)
                                && (tagged ? good.equals(salt) : salt == null);
                        byte[] sealed = ManifestText.seal(manifest, Images.KEY);
                        if (right) {
                            assertEquals(manifest, ManifestParser.open(sealed, Images.KEY, FILE).manifest());
                        } else {
                            assertThrows(ImageError.Corrupt.class, () -> ManifestParser.open(sealed, Images.KEY, FILE),
                                    manifest.toString());
                        }
                    }
                }
            }
        }
    }

    private static byte[] reseal(byte[] body) {
        byte[] mac = ("mac " + java.util.HexFormat.of().formatHex(Images.KEY.mac(body)) + "\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] sealed = Arrays.copyOf(body, body.length + mac.length);
        System.arraycopy(mac, 0, sealed, body.length, mac.length);
        return sealed;
    }

    private static byte[] damage(byte[] body, Random random) {
        String[] lines = new String(body, StandardCharsets.US_ASCII).split("(?<=\n)");
        int at = random.nextInt(lines.length);
        switch (random.nextInt(6)) {
            case 0 -> lines[at] = "";
            case 1 -> lines[at] += lines[random.nextInt(lines.length)];
            case 2 -> lines[at] = lines[at].replaceFirst(" [^ \n]*",
                    " " + new String[]{"-1", "99999999999999999999", "", "..", "%zz", "0x1"}[random.nextInt(6)]);
            case 3 -> lines[at] = lines[at].replace("\n", " \n");
            case 4 -> {
                byte[] bad = body.clone();
                bad[random.nextInt(bad.length)] = (byte) (32 + random.nextInt(96));
                return bad;
            }
            default -> {
                return Arrays.copyOf(body, random.nextInt(body.length));
            }
        }
        return String.join("", lines).getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void noNameLeadsOutOfTheDirectory() {
        for (String name : List.of("../x", "/etc/passwd", "node-0000.stripe-00/../../x", "writer", "manifest")) {
            Manifest bad = new Manifest(Manifest.VERSION, 1, Instant.EPOCH, "x", Manifest.Integrity.XXH3, null, 0, 0, 0,
                    0, 0, 0, null, List.of(), new TreeMap<>(), List.of(),
                    List.of(Manifest.FileEntry.table(name, 1, "ab".repeat(32))));
            assertThrows(ImageError.Corrupt.class,
                    () -> ManifestParser.open(ManifestText.seal(bad, Images.KEY), Images.KEY, FILE), name);
        }
    }
}
