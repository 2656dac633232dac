package org.udckpt.inspect.diff;

import java.util.List;
import org.udckpt.process.model.ProcessState;
import org.udckpt.store.OpenNode;

/**
 * What differs between one node of a checkpoint and the node of the same number in another.
 *
 * @param older with nothing on it where the older checkpoint has no such node; {@code newer} where the newer has none
 * @param processes that are in both
 * @param newProcesses that are in the newer only; {@code goneProcesses} in the older only
 * @param shared objects whose contents the images hold
 * @param files of the job, but those that are shared objects
 */
public record NodeDiff(OpenNode older, OpenNode newer, List<ProcessDiff> processes, List<ProcessState> newProcesses,
        List<ProcessState> goneProcesses,
        List<SharedDiff> shared, List<FileDiff> files) {
    /** Its number in both. */
    public int index() {
        return newer.index();
    }

    /** Where it is in the newer checkpoint; in the older, where the newer has no such node. */
    public String host() {
        return newer.host();
    }

    /** Page counts of all its processes, shared objects and files. */
    public PageCounts pages() {
        PageCounts sum = processes.stream().map(ProcessDiff::pages).reduce(PageCounts.NONE, PageCounts::plus);
        sum = shared.stream().map(SharedDiff::pages).reduce(sum, PageCounts::plus);
        return files.stream().map(FileDiff::pages).reduce(sum, PageCounts::plus);
    }
}
