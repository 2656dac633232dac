package org.udckpt.support.report;

/**
 * The exit codes of {@code udckpt} itself (docs/operator/exit-codes.md); {@code run} and {@code restart} otherwise give
 * the job's own.
 */
public enum ExitCode {
    DONE(0),
    USAGE(64),
    CORRUPT(65),
    NOT_FOUND(66),
    UNSUPPORTED(69),
    NO_SPACE(73),
    IO(74),
    BUSY(75),
    NO_OTHER_TURN(76),
    PERMISSION(77),
    TIMEOUT(124),
    INTERNAL(70);

    private final int value;

    ExitCode(int value) {
        this.value = value;
    }

    public int value() {
        return value;
    }

    /** The constant for a number that another process sent; {@link #INTERNAL} for one that is in no table. */
    public static ExitCode of(int value) {
        for (ExitCode code : values()) {
            if (code.value == value) {
                return code;
            }
        }
        return INTERNAL;
    }
}
