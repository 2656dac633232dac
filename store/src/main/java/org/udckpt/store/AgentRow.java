package org.udckpt.store;

import java.util.Objects;

/**
 * The one row of a node's table {@code agent}, in images that several agents have written.
 *
 * @param namedRuntime the runtime directory of the unit's first incarnation, which its processes' environment names
 *     for ever
 * @param boot, imageDevice see {@link FilePlace}
 */
public record AgentRow(String namedRuntime, String boot, long imageDevice) {
    public AgentRow {
        Objects.requireNonNull(namedRuntime, "no runtime directory");
    }
}
