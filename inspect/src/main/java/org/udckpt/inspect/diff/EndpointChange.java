package org.udckpt.inspect.diff;

import org.udckpt.address.Endpoint;

/**
 * A queue pair that is not where it was, as the job sees it (virtual).
 *
 * @param older null: it is new
 * @param newer null: it is gone
 */
public record EndpointChange(Endpoint older, Endpoint newer) {
    public Endpoint present() {
        return newer != null ? newer : older;
    }
}
