package org.udckpt.cli;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.udckpt.address.Endpoint;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.image.write.WrittenPages;
import org.udckpt.inspect.view.CheckpointView;
import org.udckpt.inspect.view.KindTotal;
import org.udckpt.inspect.view.NodeView;
import org.udckpt.inspect.view.ProcessView;
import org.udckpt.inspect.view.RegionView;
import org.udckpt.inspect.view.WriteTimes;
import org.udckpt.process.capture.PhaseTimes;
import org.udckpt.process.cuda.CudaTimes;
import org.udckpt.store.Extents;
import org.udckpt.store.JobRow;
import org.udckpt.store.OpenNode;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.PrintableStream;

/** {@code udckpt inspect} for people: the whole first, then each rank in a few lines. */
final class InspectText {
    private static final int LARGEST = 5;

    private final CheckpointView view;

    InspectText(CheckpointView view) {
        this.view = view;
    }

    void print() {
        JobRow row = view.image().job().row();
        Manifest manifest = view.image().reader().manifest();
        System.out.printf("%s of job %s, incarnation %d, taken %s%n", view.image().name(), row.name(), row.generation(),
                manifest.takenAt());
        System.out.printf("command    %s%n", String.join(" ", row.words()));
        System.out.printf("ranks      %d on %s%n", manifest.ranks(), row.hosts());
        nodes();
        System.out.printf("size       %s of memory, %s stored in %d files%n", Durations.bytes(manifest.bytes()),
                Durations.bytes(manifest.storedBytes()), manifest.files().size());
        System.out.printf("phases     %s%n", phases(view.phases()));
        if (view.lifeStops() != null) {
            System.out.printf("stops      of this incarnation: %d checkpoints, median %s, 99%% %s, longest %s%n",
                    view.lifeStops().checkpoints(), Durations.format(view.lifeStops().median()),
                    Durations.format(view.lifeStops().percentile99()), Durations.format(view.lifeStops().max()));
        }
        writes();
        view.pages().ifPresent(InspectText::pages);
        System.out.println("memory     kind       mappings         size       stored");
        KindTotal.of(view.regions()).forEach(total -> kind("          ", total));
        System.out.printf("objects    %s%n", counts(view.objectKinds()));
        new InspectFilesText(view.files()).printSummary();
        new InspectIdentitiesText(view.identities(), view.savedLibraries()).printSummary();
        view.nodes().forEach(InspectText::gpus);
        view.image().ranks().forEach(this::rank);
        view.nodes().forEach(this::others);
    }

    /** A line for each of several: who is where, in this incarnation. */
    private void nodes() {
        if (view.image().several()) {
            view.nodes()
                    .forEach(node -> System.out.printf("node %-5d on %s: %s; %d processes, %s stored%s%n",
                            node.node().index(), node.node().host(), ranks(node.node()),
                            node.processes().size(), Durations.bytes(stored(node.node())),
                            node.phases().isEmpty() ? "" : "; " + phases(node.phases())));
        }
    }

    private static String ranks(OpenNode node) {
        List<Integer> ranks = node.processes().ranks();
        if (ranks.size() < 2) {
            return ranks.isEmpty() ? "no ranks" : "rank " + ranks.getFirst();
        }
        boolean all = ranks.getLast() - ranks.getFirst() == ranks.size() - 1;
        return "ranks " + (all ? ranks.getFirst() + " to " + ranks.getLast()
                : String.join(", ", ranks.stream().map(Object::toString).toList()));
    }

    /** Stored bytes of processes, shared objects and files. */
    private static long stored(OpenNode node) {
        return node.memories().values().stream().mapToLong(source -> new Extents(source).bytes()).sum();
    }

    static String phases(List<PhaseTime> times) {
        StringBuilder line = new StringBuilder();
        for (PhaseTime phase : times) {
            line.append(line.isEmpty() ? "" : ", ").append(phase.phase().name().toLowerCase(Locale.ROOT))
                    .append(phase.rank() == PhaseTime.JOB ? "" : " of rank " + phase.rank()).append(' ')
                    .append(Durations.format(phase.nanoseconds()));
        }
        return line.toString();
    }

    private void writes() {
        WriteTimes all = view.writes().getFirst();
        StringBuilder line = new StringBuilder();
        for (double percentile : WriteTimes.PERCENTILES) {
            line.append(WriteTimes.label(percentile)).append("% ")
                    .append(Durations.format(all.nanoseconds().getValueAtPercentile(percentile))).append(", ");
        }
        System.out.printf("writes     %d, %s: %slongest %s%n", all.nanoseconds().getTotalCount(),
                all.direct() ? "direct" : "through the page cache", line,
                Durations.format(all.nanoseconds().getMaxValue()));
    }

    private static void pages(WrittenPages pages) {
        System.out.printf("pages      %d not read (as before), %d zero, %d read and as before, %d stored raw, "
                + "%d compressed%n", pages.unread(), pages.zero(), pages.same(), pages.raw(), pages.compressed());
    }

    static void kind(String indent, KindTotal total) {
        System.out.printf("%s %-10s %8d %12s %12s%n", indent, total.kind().word(), total.regions(),
                Durations.bytes(total.bytes()), Durations.bytes(total.stored()));
    }

    static String counts(Map<String, Integer> kinds) {
        return kinds.isEmpty() ? "none" : String.join(", ",
                kinds.entrySet().stream().map(kind -> kind.getValue() + " " + kind.getKey()).toList());
    }

    private void rank(int rank) {
        NodeView node = view.nodeOf(rank);
        System.out.printf("%s%s%s%n", node.node().processes().name(rank), view.image().place(node.node()),
                stop(node, node.of(rank)));
        node.of(rank).forEach(process -> process(node, process));
        endpoints(view.endpoints(rank));
    }

    private static void gpus(NodeView node) {
        node.gpus().forEach(gpu -> System.out.printf("gpu %-6d %s with %s, %s%n", gpu.ordinal(),
                PrintableStream.line(gpu.name()), Durations.bytes(gpu.memory()), gpu.uuid()));
    }

    private void others(NodeView node) {
        if (!node.others().isEmpty()) {
            System.out.printf("no rank%s%s%n", view.image().place(node.node()), stop(node, node.others()));
            node.others().forEach(process -> process(node, process));
        }
    }

    private static String stop(NodeView node, List<ProcessView> processes) {
        PhaseTimes times = node.capture(processes);
        return times == null ? ""
                : ": stopped in " + Durations.format(times.stopNs()) + ", read in "
                        + Durations.format(times.stateNs() + times.objectsNs())
                        + ", forked in " + Durations.format(times.forkNs()) + ", let go in "
                        + Durations.format(times.resumeNs());
    }

    private static void process(NodeView node, ProcessView process) {
        System.out.printf("    process %d (%s): %d threads, %s; %s%n", process.state().pid(),
                PrintableStream.line(process.state().name()), process.threads().size(),
                stored(process), counts(process.descriptorKinds()));
        node.cuda().stream().filter(times -> times.pid() == process.state().pid()).map(InspectText::cuda)
                .forEach(System.out::println);
        for (RegionView region : process.largest(LARGEST)) {
            System.out.println("        %12s of %-12s %-9s 0x%x %s".formatted(Durations.bytes(region.stored()),
                    Durations.bytes(region.region().size()), region.kind().word(),
                    region.region().start(), region.region().path()).stripTrailing());
        }
    }

    static String cuda(CudaTimes times) {
        return "        CUDA: locked in " + Durations.format(times.lockNs()) + ", checkpointed in "
                + Durations.format(times.checkpointNs()) + (times.restoreNs() == 0 ? ""
                        : ", restored in " + Durations.format(times.restoreNs()) + ", unlocked in "
                                + Durations.format(times.unlockNs()));
    }

    static String stored(ProcessView process) {
        return Durations.bytes(process.stored()) + " stored" + (process.common() == 0 ? ""
                : " (" + Durations.bytes(process.common()) + " in common with other processes)");
    }

    static void endpoints(List<Endpoint> endpoints) {
        endpoints.forEach(endpoint -> System.out.printf("    %s the job's %s is %s%n", endpoint.transport(),
                endpoint.virtual(), EndpointText.realOrNone(endpoint)));
    }
}
