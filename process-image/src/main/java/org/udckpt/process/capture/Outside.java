package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.List;

/**
 * Connections whose other end no process of the job has: they cannot go on after a restart. The capture is refused, or the image
 * holds them as connections that the other side has closed; in the running job they stay as they are.
 */
final class Outside {
    private final boolean closes;
    private final List<String> cut = new ArrayList<>();

    Outside(boolean closes) {
        this.closes = closes;
    }

    /**
     * Returns when the connection may be left out.
     *
     * @param what the connection and its other end
     * @param otherwise what the user can do about it
     * @throws CaptureRefused when connections to others are not to be closed
     */
    void cut(OpenDescriptor open, String what, String otherwise) {
        if (!closes) {
            throw open.refuse(what + "; " + otherwise + ", or have the image close it (--outside close)");
        }
        cut.add(open.refuse(what).getMessage());
    }

    /** What was left out, each with its process and descriptor. */
    List<String> cut() {
        return List.copyOf(cut);
    }
}
