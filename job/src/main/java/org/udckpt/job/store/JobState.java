package org.udckpt.job.store;

import org.udckpt.address.AddressMap;
import org.udckpt.job.agent.JobFacts;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.pmi.PmiState;

/**
 * The agent's half of a checkpoint: everything that must go with the processes.
 *
 * @param addresses a copy, as they were at the stop
 */
public record JobState(JobRow row, HostLayout layout, PmiState pmi, AddressMap addresses) {
    /** @param namedRuntime of the first life; see {@link JobRow} */
    public static JobState of(JobFacts facts, String namedRuntime, PmiState pmi, AddressMap addresses) {
        return new JobState(new JobRow(facts.name(), facts.layout().format(), JobRow.command(facts.command()), facts.generation(), pmi.name(), namedRuntime),
                facts.layout(), pmi, addresses);
    }
}
