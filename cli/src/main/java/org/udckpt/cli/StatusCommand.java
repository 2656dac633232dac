package org.udckpt.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.udckpt.address.CountersFile;
import org.udckpt.agent.command.CommandClient;
import org.udckpt.cluster.status.RankJson;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.PrintableStream;
import org.udckpt.support.report.WriteProgress;
import org.udckpt.support.runtime.JobRecord;
import org.udckpt.support.runtime.RuntimeDirectory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt status}: running jobs; the counters are read from shared memory, without asking a rank. */
@Command(name = "status", description = "Show running jobs: ranks, phase, endpoints, counters.")
final class StatusCommand implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Mixin
    private CommonOptions common;

    @Option(names = "--json", description = "print JSON, schema 1")
    private boolean json;

    @Parameters(arity = "0..1", paramLabel = "JOB", description = "one job; default: all")
    private String name;

    @Override
    public Integer call() throws IOException {
        Settings settings = common.settings();
        List<RuntimeDirectory> found =
                name == null ? RuntimeDirectory.all(settings) : List.of(RuntimeDirectory.find(settings, name));
        ObjectNode root = JSON.createObjectNode().put("schema", 1);
        ArrayNode jobs = root.putArray("jobs");
        for (RuntimeDirectory runtime : found) {
            try {
                jobs.add(job(runtime));
            } catch (IOException | Failure e) {
                if (name != null) {
                    throw Failure.of("reading the state of job " + name, e);
                }
                Messages.debugTrace(runtime + " ended while it was looked at", e);
            }
        }
        if (json) {
            System.out.println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root));
        } else {
            jobs.forEach(StatusCommand::print);
        }
        return ExitCode.DONE.value();
    }

    private static ObjectNode job(RuntimeDirectory runtime) throws IOException {
        JobRecord file = JobRecord.read(runtime.path());
        if (!file.agentAlive()) {
            ObjectNode node = JSON.createObjectNode().put("name", file.name()).put("dir", file.imageDirectory());
            // orphaned: the ranks go on, without checkpoints
            node.put("state", file.shepherdAlive() ? "orphaned" : "dead");
            node.putArray("ranks");
            return node;
        }
        try (CommandClient client = CommandClient.connect(runtime)) {
            ObjectNode node = (ObjectNode) client.ask(client.request("status"), event -> {}).path("job");
            if (node.has("units")) { // the ranks' counters are on their hosts, whose agents have told them
                warnOfSilent(node);
            } else {
                addCounters(runtime, node);
            }
            return node;
        }
    }

    private static void warnOfSilent(JsonNode job) {
        for (JsonNode unit : job.path("silent")) {
            String name = unit.asText();
            String host = job.path("units").valueStream().filter(each -> each.path("name").asText().equals(name))
                    .findFirst().map(each -> each.path("host").asText()).orElse(name);
            Messages.warn("the agent of " + job.path("name").asText() + "." + name + " on host " + host
                    + " did not answer in time: pids, endpoints and counters of its ranks are not shown; try"
                    + " again, or on that host ('udckpt status " + job.path("name").asText() + "." + name + "')");
        }
    }

    private static void addCounters(RuntimeDirectory runtime, ObjectNode node) throws IOException {
        try (CountersFile file = CountersFile.open(runtime.counters())) {
            for (JsonNode rank : node.path("ranks")) {
                RankJson.counters(((ObjectNode) rank).putObject("counters"), file.of(rank.path("rank").asInt()));
            }
        }
    }

    /** In one line: a process calls itself what it likes. */
    private static String shown(JsonNode node, String field) {
        return PrintableStream.line(node.path(field).asText());
    }

    private static void print(JsonNode job) {
        System.out.printf("%s  %s  checkpoints in %s%n", shown(job, "name"), shown(job, "state"), shown(job, "dir"));
        if (job.has("write")) {
            System.out.println("  writing: " + WriteProgress.of(job.path("write")));
        }
        JsonNode stops = job.at("/checkpoints/stop_ms");
        if (stops.path("count").asLong() > 0) {
            System.out.printf("  %d checkpoints: stop median %.1f ms, worst %.1f ms%n",
                    job.at("/checkpoints/complete").asLong(), stops.path("p50").asDouble(),
                    stops.path("max").asDouble());
        }
        if (job.has("units")) {
            printUnits(job);
            return;
        }
        job.path("ranks").forEach(StatusCommand::printRank);
        for (JsonNode process : job.path("processes")) {
            if (!process.has("rank")) { // a launcher, its daemons
                System.out.printf("  -         pid %-8d %s%n", process.path("pid").asInt(), shown(process, "name"));
            }
        }
    }

    private static void printRank(JsonNode rank) {
        System.out.printf("  rank %-4d pid %-8d host %-10s sends %d, rewritten %d, over connections %d, misses %d%s%n",
                rank.path("rank").asInt(), rank.path("pid").asInt(),
                shown(rank, "host"), rank.at("/counters/ud_sends").asLong(), rank.at("/counters/ud_rewrites").asLong(),
                rank.at("/counters/rc_sends").asLong(),
                rank.at("/counters/table_misses").asLong(), refused(rank.path("counters")) + otherName(rank));
        for (JsonNode endpoint : rank.path("endpoints")) {
            System.out.printf("    %s  job sees LID 0x%04x QPN 0x%06x   is LID 0x%04x QPN 0x%06x%n",
                    shown(endpoint, "transport"), endpoint.at("/virtual/lid").asInt(),
                    endpoint.at("/virtual/qpn").asInt(), endpoint.at("/real/lid").asInt(),
                    endpoint.at("/real/qpn").asInt());
        }
        if (rank.has("endpoints_left_out")) {
            System.out.println("    and " + rank.path("endpoints_left_out").asInt() + " more");
        }
    }

    /** Refused datagrams, for the status line; "" if there were none. */
    private static String refused(JsonNode counters) {
        long count = counters.path("refused").asLong();
        return count == 0 ? "" : ", datagrams of strangers " + count;
    }

    /**
     * Of a job on several hosts: where its ranks are, what they have counted together, and each as its unit has told
     * it.
     */
    private static void printUnits(JsonNode job) {
        JsonNode counters = job.path("counters");
        System.out.printf("  all ranks: sends %d, rewritten %d, over connections %d, misses %d%s%n",
                counters.path("ud_sends").asLong(), counters.path("ud_rewrites").asLong(),
                counters.path("rc_sends").asLong(), counters.path("table_misses").asLong(), refused(counters));
        for (JsonNode unit : job.path("units")) {
            int first = unit.path("first").asInt();
            int count = unit.path("count").asInt();
            String ranks = count == 1 ? "rank " + first : "ranks " + first + " to " + (first + count - 1);
            System.out.printf("  %-20s on host %s ('udckpt status %s.%s' there)%n", ranks, shown(unit, "host"),
                    shown(job, "name"), shown(unit, "name"));
        }
        job.path("ranks").valueStream().filter(rank -> rank.has("pid")).forEach(StatusCommand::printRank);
    }

    /** What MPI calls the rank, where that is not its number. */
    private static String otherName(JsonNode rank) {
        return rank.path("mpi_rank").asInt(rank.path("rank").asInt()) == rank.path("rank").asInt() ? ""
                : "; MPI rank " + rank.path("mpi_rank").asInt();
    }
}
