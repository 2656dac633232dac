package org.udckpt.job.diff;

import java.util.List;
import org.udckpt.image.Manifest;
import org.udckpt.job.store.ImageProcesses;
import org.udckpt.process.model.ProcessState;

/**
 * What differs between two checkpoints.
 *
 * @param olderName its id; its directory, where the two are in different ones
 * @param olderProcesses what each process of the older one is called; {@code newerProcesses} of the newer one
 * @param sameJob both are of one job; memory of different jobs is compared as well, by address, but has little in common
 * @param processes that are in both
 * @param newProcesses that are in the newer only; {@code goneProcesses} in the older only
 * @param shared objects whose contents the images hold
 * @param files of the job, but those that are shared objects
 */
public record ImageDiff(String olderName, Manifest older, ImageProcesses olderProcesses, String newerName, Manifest newer, ImageProcesses newerProcesses, boolean sameJob, List<ProcessDiff> processes,
        List<ProcessState> newProcesses, List<ProcessState> goneProcesses, List<SharedDiff> shared, List<FileDiff> files, List<EndpointChange> endpoints) {
    /** Of all processes, shared objects and files. */
    public Pages pages() {
        Pages sum = processes.stream().map(ProcessDiff::pages).reduce(Pages.NONE, Pages::plus);
        sum = shared.stream().map(SharedDiff::pages).reduce(sum, Pages::plus);
        return files.stream().map(FileDiff::pages).reduce(sum, Pages::plus);
    }
}
