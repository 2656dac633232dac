package org.udckpt.launch.pmi;

import java.util.List;
import java.util.StringJoiner;

/** The value of PMI_process_mapping: which node each block of consecutive ranks is on. */
public final class ProcessMapping {
    /** In the key-value space of each agent, without being put. */
    static final String KEY = "PMI_process_mapping";

    private ProcessMapping() {}

    /** {@code (vector,(node,nodes,ranksPerNode),...)}; equal neighbours are one block, as hydra writes it. */
    public static String format(List<Integer> ranksPerNode) {
        StringJoiner blocks = new StringJoiner(",", "(vector,", ")");
        for (int node = 0; node < ranksPerNode.size();) {
            int end = node;
            while (end < ranksPerNode.size() && ranksPerNode.get(end).equals(ranksPerNode.get(node))) {
                end++;
            }
            blocks.add("(" + node + "," + (end - node) + "," + ranksPerNode.get(node) + ")");
            node = end;
        }
        return blocks.toString();
    }
}
