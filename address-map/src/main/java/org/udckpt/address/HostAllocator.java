package org.udckpt.address;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Hands out LIDs and QPN ranges to the hosts of one incarnation, none of which the job sees as virtual or had in the
 * incarnation before: a restart that forgets to translate an address must fail in a test, not work by luck.
 */
final class HostAllocator {
    /** Unicast LIDs end at 0xbfff (InfiniBand specification volume 1, 4.1.3). */
    static final int LAST_LID = 0xbfff;
    /**
     * The soft fabric's QPN is a UDP port, so ranges lie between the privileged ports and 65535. One is all that the
     * processes of a host have: ranks that are connected each with each (100 to a host), services with a queue pair for
     * each client.
     */
    static final int FIRST_QPN = 2048;
    static final int RANGE = 12288;
    static final int RANGES = 5;

    private final Set<Integer> forbidden = new HashSet<>();
    private final int range;
    private int next;

    /**
     * @param generation picks the QPN range, so neighbouring incarnations never share one
     * @param used       LIDs that must not be handed out
     * @param cursor     the LID where the search starts
     */
    HostAllocator(int generation, Set<Integer> used, int cursor) {
        forbidden.addAll(used);
        range = FIRST_QPN + generation % RANGES * RANGE;
        next = Math.clamp(cursor, 1, LAST_LID);
    }

    /** @param lids how many, one after the other */
    HostAddress allocate(String name, int lids) {
        for (int tries = 0; tries < LAST_LID; tries++) {
            int lid = next;
            next = next == LAST_LID ? 1 : next + 1;
            List<Integer> block = IntStream.range(lid, lid + lids).boxed().toList();
            if (lid + lids - 1 <= LAST_LID && block.stream().noneMatch(forbidden::contains)) {
                forbidden.addAll(block);
                return new HostAddress(name, lid, lids, range, range + RANGE - 1);
            }
        }
        throw new IllegalStateException("no LID is left for host " + name + ": all " + LAST_LID + " are in use");
    }

    void searchFrom(int lid) {
        next = Math.clamp(lid, 1, LAST_LID);
    }

    int cursor() {
        return next;
    }

    static Set<Integer> lids(List<Endpoint> endpoints, List<HostAddress> hosts) {
        Set<Integer> lids = new HashSet<>();
        for (Endpoint endpoint : endpoints) {
            lids.add(endpoint.virtual().lid());
            if (endpoint.real() != null) {
                lids.add(endpoint.real().lid());
            }
        }
        hosts.forEach(host -> IntStream.range(host.lid(), host.lid() + host.lids()).forEach(lids::add));
        return lids;
    }
}
