package org.udckpt.store;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.ImageForm;
import org.udckpt.support.config.Interval;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;

/** In which form the settings want a job's memory stored. */
public final class FormSettings {
    private static final Pattern COMPRESS = Pattern.compile("zstd:(\\d{1,2})");
    /** How many checkpoints there are in a chain when they are taken by themselves. */
    private static final int DEFAULT_FULL_EVERY = 8;

    private FormSettings() {}

    static ImageForm of(Settings settings) {
        return new ImageForm(integrity(settings), zstdLevel(settings), fullEvery(settings) > 1);
    }

    private static int zstdLevel(Settings settings) {
        String text = settings.text(Option.COMPRESS);
        Matcher matcher = COMPRESS.matcher(text);
        if (text.equals("none")) {
            return 0;
        }
        if (text.equals("zstd")) {
            return ImageForm.ADAPTIVE;
        }
        int level = matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
        if (level < 1 || level > ImageForm.MOST_ZSTD_LEVEL) {
            throw settings.bad(Option.COMPRESS,
                    "none, zstd, or zstd:LEVEL with a level from 1 to " + ImageForm.MOST_ZSTD_LEVEL);
        }
        return level;
    }

    private static Manifest.Integrity integrity(Settings settings) {
        for (Manifest.Integrity one : Manifest.Integrity.values()) {
            if (one.name().toLowerCase(Locale.ROOT).equals(settings.text(Option.INTEGRITY))) {
                return one;
            }
        }
        throw settings.bad(Option.INTEGRITY, "gmac, sha256 or xxh3");
    }

    /**
     * Each how many checkpoints one holds everything. By default each does where people ask for them one by one, and
     * may take away old ones by hand, and where their number is limited: an older one that is needed could not go.
     */
    public static int fullEvery(Settings settings) {
        if (settings.text(Option.FULL_INTERVAL).isEmpty()) {
            return settings.count(Option.KEEP) > 0 || Interval.of(settings) instanceof Interval.Never ? 1
                    : DEFAULT_FULL_EVERY;
        }
        return settings.atLeastOne(Option.FULL_INTERVAL);
    }
}
