package org.udckpt.inspect.plan;

import java.util.List;

/**
 * Ranks that would go from one host to one host, and what becomes of their addresses.
 *
 * @param unit       theirs in a job of several agents; -1: one agent has all
 * @param first      number of the first rank; they follow each other
 * @param count      of ranks
 * @param from       the host that they were on at the checkpoint
 * @param to         the one that they would be on
 * @param lids       that their host had on the fabric in the checkpoint's incarnation, ascending
 * @param newLids    that the host would have now; empty: its agent takes them there, others than before
 * @param queuePairs theirs: each gets another number
 * @param soft       whether the host was on the soft fabric
 * @param device     the verbs devices from now on
 */
public record Move(int unit, int first, int count, String from, String to, List<Integer> lids, List<Integer> newLids,
        int queuePairs, boolean soft, String device) {
    /** For people: rank 3, or ranks 0 to 3. */
    public String ranks() {
        return count == 1 ? "rank " + first : "ranks " + first + " to " + (first + count - 1);
    }
}
