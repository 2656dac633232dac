package org.udckpt.cli;

import org.udckpt.address.Endpoint;

/** Endpoints as {@code inspect} and {@code diff} show them. */
final class EndpointText {
    private EndpointText() {}

    /** The real address; null without an endpoint or one. */
    static String real(Endpoint endpoint) {
        return endpoint == null || endpoint.real() == null ? null : endpoint.real().toString();
    }

    static String realOrNone(Endpoint endpoint) {
        String real = real(endpoint);
        return real == null ? "none" : real;
    }
}
