package org.udckpt.address;

/**
 * What a simulated host is given for one incarnation: environment UDCKPT_SOFT_LID and UDCKPT_SOFT_QPNS, or MSG_REBUILD.
 *
 * @param name     the host's name in --hosts
 * @param lid      its LID in this incarnation, of the first port of its first device
 * @param lids     how many LIDs are its own, from that one on: one for each port
 * @param qpnFirst first queue pair number that its device hands out
 * @param qpnLast  last one, inclusive
 */
public record HostAddress(String name, int lid, int lids, int qpnFirst, int qpnLast) {
    /** The value of UDCKPT_SOFT_QPNS. */
    public String qpns() {
        return qpnFirst + "-" + qpnLast;
    }
}
