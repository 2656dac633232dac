package org.udckpt.store;

import org.udckpt.address.Gid;
import org.udckpt.address.VerbsAddress;

/**
 * A row of a node's table {@code peers}: what the job calls a queue pair on another host with which ranks of this one
 * have exchanged messages.
 *
 * @param lid of its host, 0..65535
 * @param qpn its number, of 24 bits
 */
public record PeerRow(int lid, int qpn) {
    public PeerRow {
        address(lid, qpn);
    }

    static PeerRow of(long key) {
        return new PeerRow((int) (key >>> 24), (int) key & VerbsAddress.MAX_QPN);
    }

    /** See {@link VerbsAddress#key}. */
    long key() {
        return address(lid, qpn).key();
    }

    private static VerbsAddress address(int lid, int qpn) {
        return new VerbsAddress(lid, Gid.ZERO, qpn);
    }
}
