package org.udckpt.job.config;

/** What a checkpoint does with connections whose other end is outside of the job. */
public enum Outside {
    REFUSE, CLOSE;

    /** As {@link Option#OUTSIDE} says it. */
    public static Outside of(Settings settings) {
        return switch (settings.text(Option.OUTSIDE)) {
            case "refuse" -> REFUSE;
            case "close" -> CLOSE;
            default -> throw settings.bad(Option.OUTSIDE, "refuse or close");
        };
    }
}
