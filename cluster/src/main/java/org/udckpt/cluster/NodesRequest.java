package org.udckpt.cluster;

/**
 * What the command line says of a job on several hosts.
 *
 * @param starter      how agents come to them
 * @param fanOut       of the tree
 * @param ranksPerUnit of a job that begins, the most ranks of a host that stay together
 */
public record NodesRequest(Starter starter, int fanOut, int ranksPerUnit) {
    /** All ranks of a host stay together. */
    public NodesRequest(Starter starter, int fanOut) {
        this(starter, fanOut, Integer.MAX_VALUE);
    }
}
