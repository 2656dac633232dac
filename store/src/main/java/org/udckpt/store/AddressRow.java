package org.udckpt.store;

import java.util.Objects;

/**
 * The one row of the table {@code addresses}.
 *
 * @param arrow the address map as an Arrow IPC file (org.udckpt.address.AddressMapFile)
 */
public record AddressRow(byte[] arrow) {
    public AddressRow {
        Objects.requireNonNull(arrow, "no address map");
    }
}
