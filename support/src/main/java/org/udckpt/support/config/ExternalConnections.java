package org.udckpt.support.config;

/** What a checkpoint does with connections whose other end is outside of the job. */
public enum ExternalConnections {
    REFUSE, CLOSE;

    /** As {@link Option#EXTERNAL_CONNECTIONS} says it. */
    public static ExternalConnections of(Settings settings) {
        return switch (settings.text(Option.EXTERNAL_CONNECTIONS)) {
            case "refuse" -> REFUSE;
            case "close" -> CLOSE;
            default -> throw settings.bad(Option.EXTERNAL_CONNECTIONS, "refuse or close");
        };
    }
}
