package org.udckpt.cli.bisect;

/**
 * What gdb says of an expression in one checkpoint.
 *
 * @param words why it is not known; empty where it is
 */
public record ProbeResult(Truth truth, String words) {
    public enum Truth {
        TRUE, FALSE, UNKNOWN
    }

    static final ProbeResult TRUE = new ProbeResult(Truth.TRUE, "");
    static final ProbeResult FALSE = new ProbeResult(Truth.FALSE, "");

    static ProbeResult unknown(String words) {
        return new ProbeResult(Truth.UNKNOWN, words);
    }

    @Override
    public String toString() {
        return switch (truth) {
            case TRUE -> "true";
            case FALSE -> "not true";
            case UNKNOWN -> "not known: " + words;
        };
    }
}
