package org.udckpt.lifecycle.lead;

import java.util.OptionalInt;

/**
 * What the ranks of a job on several hosts have exited with, or'ed, and what was decided instead. For one thread at a
 * time.
 */
final class EndCodes {
    private int own;
    private OptionalInt decided = OptionalInt.empty();

    /** A unit's ranks have ended. */
    void ended(int code) {
        own |= code;
    }

    /** The first reason is the cause of the others. */
    void decide(int code) {
        decided = decided.isPresent() ? decided : OptionalInt.of(code);
    }

    /** The job's. */
    int code() {
        return decided.orElse(own);
    }
}
