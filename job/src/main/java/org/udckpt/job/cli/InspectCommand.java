package org.udckpt.job.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.udckpt.address.Endpoint;
import org.udckpt.image.CheckpointReader;
import org.udckpt.image.ImageKey;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.ImageTables;
import org.udckpt.job.store.JobState;
import org.udckpt.job.store.Keys;
import org.udckpt.job.store.StopTimesRow;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.ProcessState;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt inspect}: what is in a checkpoint. */
@Command(name = "inspect", description = "What is in a checkpoint: job, processes, kernel objects, addresses, phases.")
final class InspectCommand implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Mixin
    private CommonOptions common;

    @Option(names = "--json", description = "as JSON, schema 1")
    private boolean json;

    @Parameters(paramLabel = "DIR[/ID]", description = "a checkpoint, or the newest complete one of a directory")
    private String image;

    @Override
    public Integer call() {
        common.settings();
        ImageKey key = Keys.user();
        ImageLocation location = ImageLocation.find(image, key);
        try (CheckpointReader reader = location.open(key)) {
            ObjectNode root = describe(location, reader);
            if (json) {
                System.out.println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root));
            } else {
                print(root, "");
            }
            return ExitCode.DONE.value();
        } catch (IOException e) {
            throw Failure.of("inspecting " + location.entry().name(), e);
        }
    }

    private static ObjectNode describe(ImageLocation location, CheckpointReader reader) throws IOException {
        ObjectNode root = JSON.createObjectNode().put("schema", 1);
        ListCommand.describe(root, location.entry());
        JobState state = ImageTables.readState(reader);
        JobImage image = ImageTables.readImage(reader);
        root.put("job", state.row().name()).put("hosts", state.row().hosts()).put("generation", state.row().generation());
        root.put("command", String.join(" ", state.row().words())).put("architecture", reader.manifest().architecture());
        root.put("threads", image.threads().size()).put("regions", image.regions().size()).put("descriptors", image.descriptors().size());
        Map<String, Integer> kinds = new TreeMap<>();
        image.objects().forEach(object -> kinds.merge(object.getClass().getSimpleName(), 1, Integer::sum));
        image.tcpSockets().forEach(socket -> kinds.merge(socket.getClass().getSimpleName(), 1, Integer::sum));
        ObjectNode objects = root.putObject("objects");
        kinds.forEach(objects::put);
        ArrayNode processes = root.putArray("processes");
        for (ProcessState process : image.processes()) {
            processes.addObject().put("rank", process.rank()).put("pid", process.pid()).put("name", process.name()).put("executable", process.executable());
        }
        ArrayNode addresses = root.putArray("addresses");
        for (Endpoint endpoint : state.addresses().endpoints()) {
            addresses.addObject().put("rank", endpoint.rank()).put("virtual", endpoint.virtual().toString())
                    .put("real", endpoint.real() == null ? "none" : endpoint.real().toString());
        }
        PhasesJson.describe(root, reader);
        Optional<StopTimesRow> stops = ImageTables.readStopTimes(reader);
        if (stops.isPresent()) {
            root.putObject("life_stops_ms").put("checkpoints", stops.get().checkpoints()).put("count", stops.get().stops()).put("p50", stops.get().median() / 1e6)
                    .put("p99", stops.get().percentile99() / 1e6).put("max", stops.get().max() / 1e6);
        }
        return root;
    }

    private static void print(ObjectNode node, String indent) {
        node.properties().forEach(field -> {
            if (field.getValue() instanceof ObjectNode inner) {
                System.out.println(indent + field.getKey() + ":");
                print(inner, indent + "  ");
            } else if (field.getValue() instanceof ArrayNode list) {
                System.out.println(indent + field.getKey() + ":");
                list.forEach(item -> System.out.println(indent + "  " + item));
            } else {
                System.out.println(indent + field.getKey() + ": " + field.getValue().asText());
            }
        });
    }
}
