package org.udckpt.job.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.address.Endpoint;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

/**
 * A checkpoint that is looked at: what the agents and the processes were, and their memory where it is asked for.
 *
 * @param location where it was found
 * @param reader checks what it reads
 * @param job what is the whole job's
 * @param nodes by index, at least one
 */
public record OpenImage(ImageLocation location, CheckpointReader reader, JobState job, List<OpenNode> nodes) implements AutoCloseable {

    /** {@code text} is the command line's DIR[/ID]; 66 when there is none, 65 when it is damaged. */
    public static OpenImage open(String text, ImageKey key) {
        ImageLocation location = ImageLocation.find(text, key);
        CheckpointReader reader = location.open(key);
        try {
            JobState job = StateTables.readJob(reader);
            return new OpenImage(location, reader, job, read(reader, job));
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

    /** All nodes of a checkpoint. No rank can be on two of them: each has numbers of its own ({@link JobState#span}). */
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
        return nodes.size() > 1;
    }

    /** Behind a name: {@code  on b (node 1)}; nothing where there is one node only. */
    public String place(OpenNode node) {
        return several() ? " on " + node.host() + " (node " + node.index() + ")" : "";
    }

    /** The ranks that are there, ascending. */
    public List<Integer> ranks() {
        return nodes.stream().flatMap(node -> node.processes().ranks().stream()).sorted().toList();
    }

    /** Where a rank is; 66 naming the ranks that are there. */
    public OpenNode nodeOf(int rank) {
        return nodes.stream().filter(node -> node.processes().ranks().contains(rank)).findFirst().orElseThrow(() -> new Failure(ExitCode.NOT_FOUND,
                name() + " has no rank " + rank + "; there " + ImageProcesses.list(ranks().stream().map(Object::toString).toList())));
    }

    /** All queue pairs. */
    public List<Endpoint> endpoints() {
        return nodes.stream().flatMap(node -> node.state().addresses().endpoints().stream()).toList();
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
