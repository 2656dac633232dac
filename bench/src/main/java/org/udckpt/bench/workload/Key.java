package org.udckpt.bench.workload;

import java.util.List;
import java.util.Locale;

/** What a line of a description can be about; docs/contributing/workloads.md says what each means. */
enum Key {
    TITLE(false),
    RANKS(false),
    LONG(false),
    ALLOWED_RANKS(false),
    ALLOWED_RANKS_OF(true),
    TRANSPORTS(false),
    PARAMETER(false),
    DEFAULT_PARAMETER(false),
    BROUGHT(true),
    WRITES_BESIDE(false),
    ADVICE(true),
    INPUTS(false),
    PREPARE(true),
    ENVIRONMENT(true),
    ANSWER(false),
    TOLERANCE(true),
    ANSWER_FILE(false),
    SAME_FILES(false),
    PROOF(true),
    FLAW(true),
    FIGURE(false),
    KNOWN(true),
    PACKAGES(false),
    COMMAND(false),
    LAUNCHER_OPTIONS(false);

    static final List<Key> OF_APPLICATION =
            List.of(TITLE, LONG, RANKS, ALLOWED_RANKS, ALLOWED_RANKS_OF, TRANSPORTS, PARAMETER,
                    DEFAULT_PARAMETER, BROUGHT, WRITES_BESIDE, ADVICE, INPUTS, PREPARE,
                    ENVIRONMENT, ANSWER, TOLERANCE, ANSWER_FILE, SAME_FILES, PROOF, FLAW, FIGURE, KNOWN);
    static final List<Key> OF_BUILD = List.of(PACKAGES, COMMAND, LAUNCHER_OPTIONS, ENVIRONMENT);
    private final boolean repeats;

    Key(boolean repeats) {
        this.repeats = repeats;
    }

    /** Whether there may be several lines of it. */
    boolean mayRepeat() {
        return repeats;
    }

    /** As descriptions write it. */
    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
