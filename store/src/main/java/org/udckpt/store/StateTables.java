package org.udckpt.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.udckpt.address.AddressMap;
import org.udckpt.address.AddressMapFile;
import org.udckpt.address.RankSpan;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.LaunchMode;
import org.udckpt.launch.pmi.PmiState;
import org.udckpt.support.report.Failure;

/**
 * The tables of an image about what is around the processes. Where one process is all agents of a job, the tables
 * {@code pmi} and {@code addresses} are the whole job's, and its table {@code job} has the runtime directory, as in
 * images of all earlier versions; else each node has its own.
 */
public final class StateTables {
    private static final String JOB = "job";
    private static final String AGENT = "agent";
    private static final String PMI = "pmi";
    private static final String ADDRESSES = "addresses";
    private static final String PEERS = "peers";
    private static final String STOP_TIMES = "stop-times";
    private static final String CALLS = "calls";

    private StateTables() {}

    public static void write(CheckpointWriter writer, JobState state) throws IOException {
        writer.table(JOB, JobRow.class, List.of(state.row()));
    }

    /** Writes the state of the one agent of a job; its runtime directory is in the table of the {@link JobState}. */
    public static void write(CheckpointWriter writer, NodeState state) throws IOException {
        writer.table(PMI, PmiRow.class, pmi(state));
        writer.table(ADDRESSES, AddressRow.class, addresses(state));
    }

    /** Writes the state of one agent of several. */
    public static void write(NodeWriter node, NodeState state, FilePlace place) throws IOException {
        node.table(AGENT, AgentRow.class,
                List.of(new AgentRow(state.namedRuntime(), place.boot(), place.imageDevice())));
        node.table(PMI, PmiRow.class, pmi(state));
        node.table(ADDRESSES, AddressRow.class, addresses(state));
        node.table(PEERS, PeerRow.class, state.peers().stream().map(PeerRow::of).toList());
    }

    public static void write(CheckpointWriter writer, StopTimesRow stops) throws IOException {
        writer.table(STOP_TIMES, StopTimesRow.class, List.of(stops));
    }

    /** Writes the calls of a checkpoint that several agents have made. */
    public static void writeCalls(CheckpointWriter writer, List<CallRow> calls) throws IOException {
        writer.table(CALLS, CallRow.class, calls);
    }

    /**
     * Of a checkpoint that several agents have made; empty in others, and in images that were made before this table
     * was.
     */
    public static List<CallRow> readCalls(CheckpointReader reader) throws IOException {
        return reader.jobTableIfThere(CALLS, CallRow.class);
    }

    private static List<PmiRow> pmi(NodeState state) {
        List<PmiRow> rows = new ArrayList<>();
        state.pmi().pairs().forEach((key, value) -> rows.add(new PmiRow.Pair(key, value)));
        state.pmi().ranks().forEach(rank -> rows.add(new PmiRow.Rank(rank.rank(), rank.phase(), rank.inBarrier())));
        return rows;
    }

    private static List<AddressRow> addresses(NodeState state) throws IOException {
        return List.of(new AddressRow(AddressMapFile.write(state.addresses())));
    }

    /**
     * The job's half.
     *
     * @throws ImageError.Corrupt where the job has not as many hosts as the image has nodes; an image of one node may
     *     be of several simulated hosts
     * @throws ImageError.Missing where the nodes are not numbered from 0 on
     */
    public static JobState readJob(CheckpointReader reader) throws IOException {
        JobRow row = only(JOB, reader.jobFile(JOB), reader.jobTable(JOB, JobRow.class));
        HostLayout layout = layout(row, reader.jobFile(JOB));
        List<NodeReader> nodes = reader.nodes();
        if (nodes.size() > 1 && nodes.size() != layout.hosts().size()) {
            throw new ImageError.Corrupt(reader.jobFile(JOB), -1,
                    "the job is on " + layout.hosts().size() + " hosts, but the image has " + nodes.size() + " nodes");
        }
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).index() != i) {
                throw new ImageError.Missing(reader.directory().resolve(ImageNames.MANIFEST), "has no node " + i);
            }
        }
        return new JobState(row, layout);
    }

    private static HostLayout layout(JobRow row, Path file) throws ImageError {
        try {
            return HostLayout.parse(row.hosts());
        } catch (Failure e) { // which takes it for the user's words
            throw new ImageError.Corrupt(file, -1, "the job's hosts '" + row.hosts() + "' are malformed", e);
        }
    }

    /**
     * Whether agents of several hosts, or one of such a job, have written it: each node has a runtime directory, pairs
     * and addresses of its own then.
     */
    public static boolean hasAgents(CheckpointReader reader) {
        return reader.nodes().size() > 1 || reader.nodes().getFirst().has(AGENT);
    }

    /** Stop times of the job's incarnation until this checkpoint; empty in images older than this table. */
    public static Optional<StopTimesRow> readStopTimes(CheckpointReader reader) throws IOException {
        return reader.jobTableIfThere(STOP_TIMES, StopTimesRow.class).stream().findFirst();
    }

    /**
     * The state of one node.
     *
     * @param job of {@link #readJob}
     * @throws ImageError.Corrupt also where {@code pmi} is not of exactly the node's ranks
     */
    public static NodeState readNode(NodeReader node, JobState job) throws IOException {
        boolean own = node.has(AGENT) || node.checkpoint().nodes().size() > 1;
        String runtime = own ? only(AGENT, node.file(AGENT), node.table(AGENT, AgentRow.class)).namedRuntime()
                : job.row().namedRuntime();
        return new NodeState(runtime, readPmi(node, job, own), readAddresses(node, own),
                node.tableIfThere(PEERS, PeerRow.class).stream().map(PeerRow::key).toList());
    }

    /** Reads the place of one node of several. */
    public static FilePlace readPlace(NodeReader node) throws IOException {
        AgentRow row = only(AGENT, node.file(AGENT), node.table(AGENT, AgentRow.class));
        return new FilePlace(row.boot(), row.imageDevice());
    }

    private static PmiState readPmi(NodeReader node, JobState job, boolean own) throws IOException {
        Map<String, String> pairs = new TreeMap<>();
        List<PmiState.RankState> ranks = new ArrayList<>();
        for (PmiRow entry : rows(node, PMI, PmiRow.class, own)) {
            switch (entry) {
                case PmiRow.Pair pair -> pairs.put(pair.key(), pair.value());
                case PmiRow.Rank rank -> ranks.add(new PmiState.RankState(rank.rank(), rank.phase(), rank.inBarrier()));
            }
        }
        checkRanks(LaunchMode.ofLabels(node.checkpoint().manifest().labels()).roots(job.span(node)), ranks,
                file(node, PMI, own));
        return new PmiState(job.row().pmiName(), pairs, List.copyOf(ranks));
    }

    private static void checkRanks(RankSpan span, List<PmiState.RankState> ranks, Path file) throws ImageError {
        if (ranks.size() != span.count()) {
            throw new ImageError.Corrupt(file, -1,
                    ranks.size() + " ranks, but " + (span.isAll() ? "the job" : "its host") + " has " + span.count());
        }
        for (int i = 0; i < ranks.size(); i++) {
            if (ranks.get(i).rank() != span.first() + i) {
                throw new ImageError.Corrupt(file, -1, "rank " + ranks.get(i).rank() + " instead of rank "
                        + (span.first() + i));
            }
        }
    }

    private static AddressMap readAddresses(NodeReader node, boolean own) throws IOException {
        byte[] arrow =
                only(ADDRESSES, file(node, ADDRESSES, own), rows(node, ADDRESSES, AddressRow.class, own)).arrow();
        try {
            return AddressMapFile.read(arrow);
        } catch (IOException e) {
            throw new ImageError.Corrupt(file(node, ADDRESSES, own), -1, e.getMessage(), e);
        }
    }

    private static <T> List<T> rows(NodeReader node, String name, Class<T> type, boolean own) throws IOException {
        return own ? node.table(name, type) : node.checkpoint().jobTable(name, type);
    }

    private static Path file(NodeReader node, String name, boolean own) {
        return own ? node.file(name) : node.checkpoint().jobFile(name);
    }

    private static <T> T only(String name, Path file, List<T> rows) throws ImageError {
        if (rows.size() != 1) {
            throw new ImageError.Corrupt(file, -1, "table '" + name + "' has " + rows.size() + " rows instead of one");
        }
        return rows.getFirst();
    }
}
