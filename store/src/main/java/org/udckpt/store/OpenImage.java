package org.udckpt.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.udckpt.address.Endpoint;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * A checkpoint that is looked at: what the agents and the processes were, and their memory where it is asked for. A
 * node is read when it is asked for.
 */
public final class OpenImage implements AutoCloseable {
    private final ImageLocation location;
    private final CheckpointReader reader;
    private final JobState job;
    /** The nodes that were asked for, by index. */
    private final SortedMap<Integer, OpenNode> read = new TreeMap<>();

    private OpenImage(ImageLocation location, CheckpointReader reader, JobState job) {
        this.location = location;
        this.reader = reader;
        this.job = job;
    }

    /** {@code text} is the command line's DIR[/ID]; 66 when there is none, 65 when it is damaged. */
    public static OpenImage open(String text, ImageKey key) {
        ImageLocation location = ImageLocation.find(text, key);
        CheckpointReader reader = location.open(key);
        try {
            return new OpenImage(location, reader, StateTables.readJob(reader));
        } catch (IOException | RuntimeException e) {
            Failure failure = Failure.of("reading " + location.entry().name(), e);
            try {
                reader.close();
            } catch (IOException more) {
                failure.addSuppressed(more);
            }
            throw failure;
        }
    }

    /** Where it was found. */
    public ImageLocation location() {
        return location;
    }

    /** Checks what it reads. */
    public CheckpointReader reader() {
        return reader;
    }

    /** The state of the whole job. */
    public JobState job() {
        return job;
    }

    /** All of them, by index, at least one. @throws Failure 65 when one is damaged */
    public synchronized List<OpenNode> nodes() {
        return reader.nodes().stream().map(this::node).toList();
    }

    private synchronized OpenNode node(NodeReader node) {
        return read.computeIfAbsent(node.index(), _ -> {
            try {
                return OpenNode.read(node, job);
            } catch (IOException | RuntimeException e) {
                throw Failure.of("reading " + name(), e);
            }
        });
    }

    /**
     * All nodes of a checkpoint. No rank can be on two of them: each has numbers of its own ({@link JobState#span}).
     */
    public static List<OpenNode> read(CheckpointReader reader, JobState job) throws IOException {
        List<OpenNode> nodes = new ArrayList<>();
        for (NodeReader node : reader.nodes()) {
            nodes.add(OpenNode.read(node, job));
        }
        return List.copyOf(nodes);
    }

    public String name() {
        return location.entry().name();
    }

    /** Whether its processes are of several hosts, so that one has to say whose pid a pid is. */
    public boolean several() {
        return reader.nodes().size() > 1;
    }

    /** Behind a name: {@code  on b (node 1)}; nothing where there is one node only. */
    public String place(OpenNode node) {
        return several() ? " on " + node.host() + " (node " + node.index() + ")" : "";
    }

    /** The ranks that are there, ascending. */
    public List<Integer> ranks() {
        return nodes().stream().flatMap(node -> node.processes().ranks().stream()).sorted().toList();
    }

    /** Where a rank is, without a look at the other nodes; 66 naming the ranks that are there. */
    public OpenNode nodeOf(int rank) {
        return reader.nodes().stream().filter(node -> job.span(node).owns(rank)).map(this::node)
                .filter(node -> node.processes().ranks().contains(rank)).findFirst()
                .orElseThrow(() -> new Failure(ExitCode.NOT_FOUND, name() + " has no rank " + rank + "; there "
                        + ImageProcesses.list(ranks().stream().map(Object::toString).toList())));
    }

    /** All queue pairs. */
    public List<Endpoint> endpoints() {
        return nodes().stream().flatMap(node -> node.state().addresses().endpoints().stream()).toList();
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
