package org.udckpt.store;

import java.util.List;
import org.udckpt.address.RankSpan;
import org.udckpt.agent.JobFacts;
import org.udckpt.image.read.NodeReader;
import org.udckpt.launch.HostLayout;

/** What must go with the processes and is the whole job's. */
public record JobState(JobRow row, HostLayout layout) {
    /**
     * Of a job of several agents: each knows its own runtime directory.
     *
     * @param layout its virtual hosts.
     * @param command words, the program first
     */
    public static JobState of(String name, HostLayout layout, List<String> command, int generation, String pmiName) {
        return new JobState(new JobRow(name, layout.format(), JobRow.command(command), generation, pmiName, ""),
                layout);
    }

    /**
     * @param pmiName of the key-value space
     * @param namedRuntime of the first incarnation; see {@link JobRow}
     */
    public static JobState of(JobFacts facts, String pmiName, String namedRuntime) {
        return new JobState(new JobRow(facts.name(), facts.layout().format(), JobRow.command(facts.command()),
                facts.generation(), pmiName, namedRuntime), facts.layout());
    }

    /** The ranks of a node: of several those of the job's host of its number, a single one has all. */
    public RankSpan span(NodeReader node) {
        if (node.checkpoint().nodes().size() == 1) {
            return RankSpan.all(layout.ranks());
        }
        int first = layout.ranksPerHost().subList(0, node.index()).stream().mapToInt(Integer::intValue).sum();
        return new RankSpan(first, layout.ranksPerHost().get(node.index()), layout.ranks());
    }
}
