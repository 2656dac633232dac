package org.udckpt.bench.application;

import java.util.Locale;

/** What the ranks' messages go over, as UCX names it. */
enum Transport {
    UD("ud_verbs,self"), RC("rc_v,self");

    private final String ucx;

    Transport(String ucx) {
        this.ucx = ucx;
    }

    /** The value of UCX_TLS. */
    String ucx() {
        return ucx;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
