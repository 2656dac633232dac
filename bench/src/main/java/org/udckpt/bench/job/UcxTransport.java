package org.udckpt.bench.job;

import java.util.Locale;

/** What the ranks' messages go over, as UCX names it. */
public enum UcxTransport {
    UD("ud_verbs,self"), RC("rc_v,self");

    private final String ucx;

    UcxTransport(String ucx) {
        this.ucx = ucx;
    }

    /** The value of UCX_TLS. */
    public String ucx() {
        return ucx;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
