package org.udckpt.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.udckpt.inspect.view.CheckpointView;
import org.udckpt.inspect.view.KernelObjects.Named;
import org.udckpt.inspect.view.KindTotal;
import org.udckpt.inspect.view.NodeView;
import org.udckpt.inspect.view.ProcessView;
import org.udckpt.inspect.view.RegionView;
import org.udckpt.inspect.view.WriteTimes;
import org.udckpt.process.capture.PhaseTimes;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.trace.Registers;
import org.udckpt.store.Extents;
import org.udckpt.store.JobRow;
import org.udckpt.store.OpenNode;
import org.udckpt.store.ProcessChoice;

/** {@code udckpt inspect --json}; its schema is in docs/reference/json.md. */
final class InspectJson {
    private final CheckpointView view;

    private InspectJson(CheckpointView view) {
        this.view = view;
    }

    /** The whole checkpoint, with these processes of it and the ranks to which they belong. */
    static ObjectNode of(CheckpointView view, List<ProcessChoice.Chosen> chosen) throws IOException {
        ObjectNode root = JsonOutput.document();
        ListCommand.describe(root, view.image().location().entry());
        InspectJson json = new InspectJson(view);
        json.job(root);
        json.nodes(root.putArray("nodes"));
        PhasesJson.describe(root, view.phases());
        if (!view.calls().isEmpty()) {
            PhasesJson.describe(root.putArray("calls"), view);
        }
        if (view.lifeStops() != null) {
            root.putObject("life_stops_ms").put("checkpoints", view.lifeStops().checkpoints())
                    .put("count", view.lifeStops().stops()).put("p50", view.lifeStops().median() / 1e6)
                    .put("p99", view.lifeStops().percentile99() / 1e6).put("max", view.lifeStops().max() / 1e6);
        }
        view.pages().ifPresent(pages -> root.putObject("pages").put("unread", pages.unread()).put("zero", pages.zero())
                .put("same", pages.same()).put("raw", pages.raw()).put("compressed", pages.compressed()));
        json.writes(root.putArray("write_latency"));
        ArrayNode list = root.putArray("processes");
        chosen.forEach(process -> process(list.addObject(), view.view(process)));
        json.ranks(root.putArray("rank_details"),
                chosen.stream().flatMapToInt(process -> process.node().processes().rank(process.state()).stream())
                        .distinct().sorted().toArray());
        return root;
    }

    private void job(ObjectNode root) {
        JobRow row = view.image().job().row();
        root.put("job", row.name()).put("hosts", row.hosts()).put("generation", row.generation()).put("command",
                String.join(" ", row.words()));
        root.put("architecture", view.image().reader().manifest().architecture());
        root.put("threads", sum(image -> image.threads().size())).put("regions", sum(image -> image.regions().size()))
                .put("descriptors", sum(image -> image.descriptors().size()));
        ObjectNode objects = root.putObject("objects");
        view.objectKinds().forEach(objects::put);
        kinds(root.putArray("memory"), KindTotal.of(view.regions()));
        ArrayNode shared = root.putArray("shared_memory");
        view.image().nodes().forEach(node -> shared(shared, node));
        ArrayNode files = root.putArray("files");
        view.image().nodes().forEach(node -> files(files, node));
        ArrayNode identities = root.putArray("mapped_files");
        view.image().nodes().forEach(node -> identities(identities, node));
        ArrayNode addresses = root.putArray("addresses");
        view.image().endpoints().forEach(endpoint -> addresses.addObject().put("rank", endpoint.rank())
                .put("transport", endpoint.transport().name()).put("virtual", endpoint.virtual().toString())
                .put("real", EndpointText.realOrNone(endpoint)));
    }

    private int sum(ToIntFunction<JobImage> count) {
        return view.image().nodes().stream().map(OpenNode::image).mapToInt(count).sum();
    }

    private void nodes(ArrayNode array) {
        for (NodeView each : view.nodes()) {
            OpenNode node = each.node();
            ObjectNode one = array.addObject().put("node", node.index()).put("host", node.host()).put("processes",
                    node.processes().all().size());
            node.processes().ranks().forEach(one.putArray("ranks")::add);
            PhasesJson.describe(one, each.phases());
        }
    }

    private static void shared(ArrayNode array, OpenNode node) {
        node.image().objects().stream().filter(SharedMemory.class::isInstance).map(SharedMemory.class::cast)
                .forEach(memory -> array.addObject().put("node", node.index()).put("id", memory.id())
                        .put("kind", memory.kind().name().toLowerCase(Locale.ROOT)).put("path", memory.path())
                        .put("bytes", memory.size())
                        .put("stored_bytes", new Extents(node.shared(memory.id())).bytes()));
    }

    private static void files(ArrayNode array, OpenNode where) {
        for (JobFile file : where.image().files()) {
            ObjectNode node = array.addObject().put("node", where.index()).put("path", file.path());
            switch (file) {
                case JobFile.RegularFile f -> node.put("kind", "file").put("bytes", f.size())
                        .put("stored_bytes", new Extents(where.shared(f.id())).bytes())
                        .put("mode", "%04o".formatted(f.mode())).put("modified_ns", f.modifiedNs())
                        .put("cut", InspectFilesText.word(f));
                case JobFile.HardLink link -> node.put("kind", "link").put("of", link.of());
                case JobFile.SymbolicLink link -> node.put("kind", "symlink").put("target", link.target());
                case JobFile.Directory directory -> node.put("kind", "directory").put("mode",
                        "%04o".formatted(directory.mode()));
                case JobFile.LeftOut left -> node.put("kind", "left-out").put("reason", left.reason());
                case JobFile.Named named -> node.put("kind", named.except() ? "except" : "named");
            }
        }
    }

    private static void identities(ArrayNode array, OpenNode where) {
        Set<String> saved = where.savedLibraries();
        for (FileIdentity file : where.image().identities()) {
            array.addObject().put("node", where.index()).put("path", file.path())
                    .put("use", InspectIdentitiesText.word(file)).put("bytes", file.size())
                    .put("modified_ns", file.modifiedNs()).put("mode", "%04o".formatted(file.mode()))
                    .put("uid", file.uid()).put("gid", file.gid())
                    .put("build_id", file.buildId()).put("sha256", InspectIdentitiesText.digest(file))
                    .put("undigested", file.undigested()).put("writers", file.writers())
                    .put("in_image", saved.contains(file.path()));
        }
    }

    private static void kinds(ArrayNode array, List<KindTotal> totals) {
        totals.forEach(total -> array.addObject().put("kind", total.kind().word()).put("regions", total.regions())
                .put("bytes", total.bytes())
                .put("stored_bytes", total.stored()));
    }

    private void writes(ArrayNode array) {
        for (WriteTimes times : view.writes()) {
            ObjectNode node = array.addObject();
            if (times.stripe() >= 0) {
                node.put("node", times.node()).put("stripe", times.stripe());
            }
            node.put("direct", times.direct()).put("writes", times.nanoseconds().getTotalCount());
            ObjectNode percentiles = node.putObject("percentiles_ns");
            for (double percentile : WriteTimes.PERCENTILES) {
                percentiles.put(WriteTimes.label(percentile), times.nanoseconds().getValueAtPercentile(percentile));
            }
            node.put("max_ns", times.nanoseconds().getMaxValue());
        }
    }

    private void ranks(ArrayNode array, int[] ranks) {
        for (int rank : ranks) {
            NodeView where = view.nodeOf(rank);
            List<ProcessView> own = where.of(rank);
            ObjectNode node = array.addObject().put("rank", rank).put("node", where.node().index()).put("host",
                    where.node().host());
            where.node().processes().mpiRank(rank).ifPresent(mpi -> node.put("mpi_rank", mpi));
            node.put("processes", own.size()).put("threads",
                    own.stream().mapToInt(process -> process.threads().size()).sum());
            node.put("stored_bytes", own.stream().mapToLong(ProcessView::stored).sum());
            PhaseTimes times = where.capture(own);
            if (times != null) {
                node.putObject("capture_ns").put("stop", times.stopNs()).put("state", times.stateNs())
                        .put("objects", times.objectsNs()).put("fork", times.forkNs())
                        .put("resume", times.resumeNs()).put("total", times.totalNs());
            }
            where.cuda().stream().filter(cuda -> own.stream().anyMatch(one -> one.state().pid() == cuda.pid()))
                    .forEach(cuda -> node.withArray("cuda_ns").addObject().put("pid", cuda.pid())
                            .put("lock", cuda.lockNs()).put("checkpoint", cuda.checkpointNs())
                            .put("restore", cuda.restoreNs()).put("unlock", cuda.unlockNs()));
        }
    }

    private static void process(ObjectNode node, ProcessView process) {
        process.node().processes().rank(process.state()).ifPresent(rank -> node.put("rank", rank));
        node.put("node", process.node().index()).put("host", process.node().host());
        node.put("pid", process.state().pid()).put("parent", process.state().parentPid()).put("name",
                process.state().name());
        node.put("executable", process.state().executable()).put("directory", process.state().workingDirectory())
                .put("stored_bytes", process.stored()).put("common_bytes", process.common());
        kinds(node.putArray("memory"), KindTotal.of(process.regions()));
        ObjectNode kinds = node.putObject("descriptor_kinds");
        process.descriptorKinds().forEach(kinds::put);
        ArrayNode threads = node.putArray("threads");
        process.threads().forEach(thread -> thread(threads.addObject(), thread));
        ArrayNode regions = node.putArray("regions");
        process.regions().forEach(region -> region(regions.addObject(), region));
        ArrayNode descriptors = node.putArray("descriptors");
        process.descriptors().forEach(descriptor -> descriptor(descriptors.addObject(), descriptor,
                process.objects().get(descriptor.object())));
    }

    private static void thread(ObjectNode node, ThreadState thread) {
        Registers registers = Registers.of(thread.registers());
        node.put("tid", thread.tid()).put("name", thread.name())
                .put("rip", "0x%x".formatted(registers.get(Registers.RIP)))
                .put("rsp", "0x%x".formatted(registers.get(Registers.RSP))).put("system_call", registers.systemCall())
                .put("signal_mask", "0x%x".formatted(thread.signalMask()));
    }

    private static void region(ObjectNode node, RegionView view) {
        node.put("start", "0x%x".formatted(view.region().start())).put("end", "0x%x".formatted(view.region().end()))
                .put("permissions", view.region().permissions());
        node.put("kind", view.kind().word()).put("path", view.region().path()).put("offset",
                view.region().fileOffset());
        node.put("bytes", view.region().size()).put("stored_bytes", view.stored()).put("common_bytes", view.common());
        if (view.region().backing() != 0) {
            node.put("shared_memory", view.region().backing());
        }
    }

    private static void descriptor(ObjectNode node, Descriptor descriptor, Named named) {
        node.put("fd", descriptor.fd()).put("close_on_exec", descriptor.closeOnExec())
                .put("object", descriptor.object()).put("kind", named.kind()).put("name", named.name());
        if (named.position() >= 0) {
            node.put("position", named.position());
        }
    }
}
