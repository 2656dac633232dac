package org.udckpt.job.look;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.udckpt.address.Endpoint;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.job.store.Extents;
import org.udckpt.job.store.ImageTables;
import org.udckpt.job.store.OpenImage;
import org.udckpt.job.store.StopTimesRow;
import org.udckpt.process.capture.PhaseTimes;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;

/**
 * What is in a checkpoint, arranged by process.
 *
 * @param processes parents before their children
 * @param phases of the checkpoint
 * @param captures what the stop was spent on, of each process that {@code run} started and all below it
 * @param lifeStops how long the ranks stood still in this life of the job; null where the image does not say
 * @param writes all together first, then each stripe
 */
public record CheckpointView(OpenImage image, KernelObjects objects, List<ProcessView> processes, List<PhaseTime> phases, List<PhaseTimes> captures,
        StopTimesRow lifeStops, List<WriteTimes> writes) {
    public static CheckpointView of(OpenImage image) throws IOException {
        Map<Integer, List<ThreadState>> threads = image.image().threads().stream().collect(Collectors.groupingBy(ThreadState::pid));
        Map<Integer, List<Region>> regions = image.image().regions().stream().collect(Collectors.groupingBy(Region::pid));
        Map<Integer, List<Descriptor>> descriptors = image.image().descriptors().stream().collect(Collectors.groupingBy(Descriptor::pid));
        List<ProcessView> processes = new ArrayList<>();
        for (ProcessState process : image.image().processes()) {
            int pid = process.pid();
            Extents stored = new Extents(image.memory(pid));
            List<RegionView> views = regions.getOrDefault(pid, List.of()).stream()
                    .map(region -> new RegionView(region, RegionKind.of(region), stored.bytes(region.start(), region.end()))).toList();
            processes.add(new ProcessView(process, threads.getOrDefault(pid, List.of()), views, descriptors.getOrDefault(pid, List.of())));
        }
        return new CheckpointView(image, new KernelObjects(image.image()), processes, image.reader().table("phases", PhaseTime.class),
                image.reader().tableIfThere("rank-phases", PhaseTimes.class), ImageTables.readStopTimes(image.reader()).orElse(null), WriteTimes.read(image.reader()));
    }

    /** A rank's, that with the verbs device first. */
    public List<ProcessView> of(int rank) {
        return views(image.processes().of(rank));
    }

    /** Those that belong to no rank. */
    public List<ProcessView> others() {
        return views(image.processes().others());
    }

    /** The views of these processes, in their order. */
    public List<ProcessView> views(List<ProcessState> states) {
        Map<Integer, ProcessView> byPid = processes.stream().collect(Collectors.toMap(process -> process.state().pid(), process -> process));
        return states.stream().map(state -> byPid.get(state.pid())).toList();
    }

    public List<RegionView> regions() {
        return processes.stream().flatMap(process -> process.regions().stream()).toList();
    }

    public List<Endpoint> endpoints(int rank) {
        return image.state().addresses().endpoints().stream().filter(endpoint -> endpoint.rank() == rank).toList();
    }

    /** What the stop was spent on of the tree that begins with one of these processes; null: with none, or the image does not say. */
    public PhaseTimes capture(List<ProcessView> begins) {
        for (ProcessView process : begins) {
            if (process.state().parentPid() == 0) {
                return captures.stream().filter(times -> times.rank() == process.state().rank()).findFirst().orElse(null);
            }
        }
        return null;
    }
}
