package org.udckpt.inspect.diff;

import java.util.List;
import org.udckpt.process.model.ProcessState;

/**
 * One process in two checkpoints.
 *
 * @param groups its private memory
 * @param newThreads their ids; {@code goneThreads} those that have ended
 */
public record ProcessDiff(ProcessState older, ProcessState newer, List<Group> groups, List<RegionChange> regions,
        List<DescriptorChange> descriptors,
        List<Integer> newThreads, List<Integer> goneThreads) {
    public PageCounts pages() {
        return groups.stream().map(Group::pages).reduce(PageCounts.NONE, PageCounts::plus);
    }
}
