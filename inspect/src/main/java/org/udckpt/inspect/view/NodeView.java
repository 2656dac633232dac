package org.udckpt.inspect.view;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.udckpt.image.read.NodeReader;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.process.capture.PhaseTimes;
import org.udckpt.process.cuda.CudaTimes;
import org.udckpt.process.cuda.Gpu;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.store.Extents;
import org.udckpt.store.ImageTables;
import org.udckpt.store.OpenNode;

/**
 * The content of one node of a checkpoint, arranged by process.
 *
 * @param processes parents before their children
 * @param phases of this node alone, in checkpoints of several: all its ranks together, and each; {@link PhaseTime#JOB}
 *     is the node here
 * @param cuda what the driver took, of each process that uses CUDA
 * @param gpus of the host, where one does
 * @param captures what the stop was spent on, of each process that {@code run} started and all below it
 */
public record NodeView(OpenNode node, KernelObjects objects, List<ProcessView> processes, List<PhaseTime> phases,
        List<PhaseTimes> captures, List<CudaTimes> cuda, List<Gpu> gpus) {
    static final String PHASES = "phases";

    static NodeView of(OpenNode node, NodeReader reader) throws IOException {
        KernelObjects objects = new KernelObjects(node.image());
        Map<Integer, List<ThreadState>> threads =
                node.image().threads().stream().collect(Collectors.groupingBy(ThreadState::pid));
        Map<Integer, List<Region>> regions =
                node.image().regions().stream().collect(Collectors.groupingBy(Region::pid));
        Map<Integer, List<Descriptor>> descriptors =
                node.image().descriptors().stream().collect(Collectors.groupingBy(Descriptor::pid));
        CommonMemory common = new CommonMemory(node);
        List<ProcessView> processes = new ArrayList<>();
        for (ProcessState process : node.image().processes()) {
            int pid = process.pid();
            Extents stored = new Extents(node.memory(pid));
            List<RegionView> views = regions.getOrDefault(pid, List.of()).stream()
                    .map(region -> new RegionView(region, RegionKind.of(region),
                            stored.bytes(region.start(), region.end()),
                            common.bytes(pid, region.start(), region.end())))
                    .toList();
            processes.add(new ProcessView(node, process, threads.getOrDefault(pid, List.of()), views,
                    descriptors.getOrDefault(pid, List.of()), objects));
        }
        return new NodeView(node, objects, processes, reader.tableIfThere(PHASES, PhaseTime.class),
                reader.tableIfThere("rank-phases", PhaseTimes.class),
                ImageTables.readCuda(reader, node.image().processes()), ImageTables.readGpus(reader));
    }

    /** A rank's, that with the verbs device first. */
    public List<ProcessView> of(int rank) {
        return views(node.processes().of(rank));
    }

    /** Processes that belong to no rank. */
    public List<ProcessView> others() {
        return views(node.processes().others());
    }

    private List<ProcessView> views(List<ProcessState> states) {
        return states.stream().map(this::view).toList();
    }

    /** The view of one of its processes. */
    public ProcessView view(ProcessState state) {
        return processes.stream().filter(process -> process.state().pid() == state.pid()).findFirst().orElseThrow();
    }

    /**
     * What the stop was spent on of the tree that begins with one of these processes; null: with none, or the image
     * does not say.
     */
    public PhaseTimes capture(List<ProcessView> begins) {
        for (ProcessView process : begins) {
            if (process.state().parentPid() == 0) {
                return captures.stream().filter(times -> times.rank() == process.state().rank()).findFirst()
                        .orElse(null);
            }
        }
        return null;
    }

    public List<RegionView> regions() {
        return processes.stream().flatMap(process -> process.regions().stream()).toList();
    }
}
