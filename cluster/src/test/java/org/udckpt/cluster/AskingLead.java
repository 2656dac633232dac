package org.udckpt.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.tree.CallResult;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.launch.LaunchMode;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.transport.JobCredential;

/**
 * A lead without a job, for tests: {@code AskingLead STARTER FAN-OUT HOST...}. Starts an agent on each host, calls
 * START of all, waits for the file that {@code TEST_PAUSE} names or for an agent that is lost, calls END and ends.
 * Prints what it hears. What begins with TEST_ goes into the job's environment.
 */
public final class AskingLead implements LeadListener {
    private static final Timing TIMING = new Timing(Duration.ofMillis(250).toNanos(), Duration.ofSeconds(4).toNanos(),
            Duration.ofSeconds(60).toNanos());

    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

    private AskingLead() {}

    public static void main(String[] arguments) throws Exception {
        List<Unit> units = new ArrayList<>();
        for (int i = 2; i < arguments.length; i++) {
            units.add(new Unit("h" + (i - 2), arguments[i], i - 2, 1));
        }
        Map<String, String> environment =
                System.getenv().entrySet().stream().filter(entry -> entry.getKey().startsWith("TEST_"))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        NodeJob job = new NodeJob("test", 0, LaunchMode.RANKS, units, Integer.parseInt(arguments[1]), "/tmp",
                List.of("true"), environment, null);
        AskingLead lead = new AskingLead();
        try (LeadNodes nodes = LeadNodes.start(Settings.load().checked(), Starter.parse(arguments[0], System.getenv()),
                job, TIMING, JobCredential.generate(), lead)) {
            lead.run(nodes);
        } catch (Failure e) {
            Messages.error(e.getMessage(), e);
            System.exit(e.code().value());
        }
        System.out.println("closed");
        System.exit(0);
    }

    private void run(LeadNodes nodes) throws Exception {
        NodeHandle node = nodes.node();
        node.thread().execute(now -> node.part().coordinator().start(now, Op.START));
        System.out.println(heard.take());
        String pause = System.getenv("TEST_PAUSE");
        while (pause != null && !Files.exists(Path.of(pause)) && heard.isEmpty()) {
            Thread.sleep(20);
        }
        node.thread().execute(now -> node.part().coordinator().end(now));
        for (String next = ""; !next.startsWith("ended");) {
            next = heard.take();
            System.out.println(next);
        }
    }

    @Override
    public void joined(NodeHandle node) {
        System.out.println("joined");
    }

    @Override
    public void commit(long checkpoint, long now) {
        throw new IllegalStateException("no checkpoint is taken here");
    }

    @Override
    public void ended(CheckpointOutcome outcome, long now) {
        throw new IllegalStateException("no checkpoint is taken here");
    }

    @Override
    public void started(CallResult tally, long now) {
        heard.add("started " + tally.nodes() + (tally.failure() == null ? "" : " failed: " + tally.failure()));
    }

    @Override
    public void jobEnded(CallResult tally, long now) {
        heard.add("ended " + tally.nodes() + (tally.failure() == null ? "" : " failed: " + tally.failure()));
    }

    @Override
    public void lost(int node, long now) {
        heard.add("lost node " + node);
    }

    @Override
    public void missing(List<Integer> units) {
        // the command's failure names them
    }

    @Override
    public void agentsEnded(List<Integer> units, boolean byItself, String reason, long now) {
        System.out.println("agents ended " + units + ": " + reason);
    }

    @Override
    public long[] counts() {
        return new long[2];
    }

    @Override
    public void table(int from, byte[] subject, VectorSchemaRoot table) {
        throw new IllegalArgumentException("nobody has asked for tables");
    }

    @Override
    public void failed(Throwable cause) {
        heard.add("ended by " + cause);
    }
}
