package org.udckpt.inspect.diff;

import java.util.List;
import org.udckpt.image.Manifest;

/**
 * What differs between two checkpoints.
 *
 * @param olderName its id; its directory, where the two are in different ones
 * @param sameJob both are of one job; memory of different jobs is compared as well, by address, but has little in
 *     common
 * @param nodes of either, by index
 */
public record ImageDiff(String olderName, Manifest older, String newerName, Manifest newer, boolean sameJob,
        List<NodeDiff> nodes, List<EndpointChange> endpoints) {
    /** Page counts of all nodes. */
    public PageCounts pages() {
        return nodes.stream().map(NodeDiff::pages).reduce(PageCounts.NONE, PageCounts::plus);
    }
}
