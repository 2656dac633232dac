package org.udckpt.job.bisect;

/**
 * What gdb says of an expression in one checkpoint.
 *
 * @param words why it is not known; empty where it is
 */
public record Verdict(Truth truth, String words) {
    public enum Truth { TRUE, FALSE, UNKNOWN }

    static final Verdict TRUE = new Verdict(Truth.TRUE, "");
    static final Verdict FALSE = new Verdict(Truth.FALSE, "");

    static Verdict unknown(String words) {
        return new Verdict(Truth.UNKNOWN, words);
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
