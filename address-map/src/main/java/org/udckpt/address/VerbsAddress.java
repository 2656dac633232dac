package org.udckpt.address;

/**
 * Where a UD queue pair is reached.
 *
 * @param lid 16-bit local identifier, 0..65535
 * @param gid global identifier of the port
 * @param qpn 24-bit queue pair number
 */
public record VerbsAddress(int lid, Gid gid, int qpn) {
    public static final int MAX_LID = 0xffff;
    public static final int MAX_QPN = 0xffffff;

    public VerbsAddress {
        if (lid < 0 || lid > MAX_LID) {
            throw new IllegalArgumentException("LID " + lid + " is not a 16-bit number");
        }
        if (qpn < 0 || qpn > MAX_QPN) {
            throw new IllegalArgumentException("QPN " + qpn + " is not a 24-bit number");
        }
    }

    /** The hash key of the shared table: LID and QPN, not the GID. */
    public long key() {
        return (long) lid << 24 | qpn;
    }

    @Override
    public String toString() {
        return "LID 0x%04x QPN 0x%06x".formatted(lid, qpn);
    }
}
