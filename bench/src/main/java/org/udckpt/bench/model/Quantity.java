package org.udckpt.bench.model;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Numbers with a unit, as people write and read them. */
public final class Quantity {
    private static final double DAY = 86_400, YEAR = 365.25 * DAY;
    private static final String PREFIXES = "kMGTPE";
    private static final Pattern BYTES = Pattern.compile("([0-9.]+)(?:([kKMGTPE])(i?))?B?(?:/s)?");
    private static final Pattern TIME = Pattern.compile("([0-9.]+)(us|ms|s|m|h|d|y)");

    private Quantity() {}

    /** {@code 2G} and {@code 2GB/s} are 2e9, {@code 2GiB} is 2^31, {@code none} is no limit. */
    static final class Bytes implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            if (text.equals("none")) {
                return Double.POSITIVE_INFINITY;
            }
            Matcher parts = BYTES.matcher(text);
            if (!parts.matches()) {
                throw new TypeConversionException(
                        "'" + text + "' is no number of bytes, such as 1.2G (10^9), 512Mi (2^20), or 57.6GB/s");
            }
            int power = parts.group(2) == null ? 0
                    : 1 + PREFIXES.toUpperCase(Locale.ROOT).indexOf(parts.group(2).toUpperCase(Locale.ROOT));
            return number(parts.group(1)) * Math.pow("i".equals(parts.group(3)) ? 1024 : 1000, power);
        }
    }

    /** In seconds. */
    public static final class Time implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            Matcher parts = TIME.matcher(text);
            if (!parts.matches()) {
                throw new TypeConversionException(
                        "'" + text + "' is no time, such as 250us, 31ms, 10s, 5m, 12h, 30d or 5y");
            }
            return number(parts.group(1)) * switch (parts.group(2)) {
                case "us" -> 1e-6;
                case "ms" -> 1e-3;
                case "s" -> 1;
                case "m" -> 60;
                case "h" -> 3600;
                case "d" -> DAY;
                default -> YEAR;
            };
        }
    }

    private static double number(String text) {
        try {
            double value = Double.parseDouble(text);
            if (value >= 0 && Double.isFinite(value)) {
                return value;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new TypeConversionException("'" + text + "' is no number");
    }

    /** {@code 38.0 TB}. */
    public static String bytes(double value) {
        if (Double.isInfinite(value)) {
            return "no limit";
        }
        int power = 0;
        while (value >= 999.95 && power < PREFIXES.length()) {
            value /= 1000;
            power++;
        }
        return power == 0 ? String.format(Locale.ROOT, "%.0f B", value)
                : String.format(Locale.ROOT, "%.1f %cB", value, PREFIXES.charAt(power - 1));
    }

    /** {@code 31.0 ms}, {@code 11.0 min}. */
    public static String time(double seconds) {
        if (seconds < 1e-3) {
            return String.format(Locale.ROOT, "%.0f us", seconds * 1e6);
        }
        if (seconds < 1) {
            return String.format(Locale.ROOT, "%.1f ms", seconds * 1e3);
        }
        if (seconds < 120) {
            return String.format(Locale.ROOT, "%.1f s", seconds);
        }
        if (seconds < 7200) {
            return String.format(Locale.ROOT, "%.1f min", seconds / 60);
        }
        if (seconds < 2 * DAY) {
            return String.format(Locale.ROOT, "%.1f h", seconds / 3600);
        }
        return seconds < 2 * YEAR ? String.format(Locale.ROOT, "%.1f d", seconds / DAY)
                : String.format(Locale.ROOT, "%.1f y", seconds / YEAR);
    }
}
