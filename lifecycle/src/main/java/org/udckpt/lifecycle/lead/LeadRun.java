package org.udckpt.lifecycle.lead;

import static org.udckpt.linux.LinuxConstants.SIGKILL;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.cluster.ControlMessage;
import org.udckpt.cluster.LeadAddresses;
import org.udckpt.cluster.LeadListener;
import org.udckpt.cluster.LeadNodes;
import org.udckpt.cluster.LeadPmi;
import org.udckpt.cluster.NodeCounts;
import org.udckpt.cluster.NodeHandle;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.Starter;
import org.udckpt.cluster.status.RankStatus;
import org.udckpt.coordination.lookup.ControlChannel;
import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.coordination.protocol.Coordinator;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.tree.CallResult;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.lifecycle.checkpoint.CheckpointDestination;
import org.udckpt.lifecycle.checkpoint.CheckpointQueue;
import org.udckpt.lifecycle.checkpoint.CoordinatedCheckpoints;
import org.udckpt.lifecycle.checkpoint.CoordinatorClient;
import org.udckpt.store.CallRow;
import org.udckpt.store.Damage;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.CodedText;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.WriteProgress;
import org.udckpt.support.runtime.RuntimeDirectory;
import org.udckpt.transport.CredentialFile;
import org.udckpt.transport.JobCredential;

/**
 * An incarnation of a job of several nodes, as its lead has it: begins it through the coordinator, hears of its ranks'
 * ends, and ends it where a node is lost. All of {@link LeadListener} and {@link ControlChannel.Reader} comes in the
 * node's thread, but for {@link #joined}, {@link #missing}, {@link #table} and {@link #failed}.
 */
public final class LeadRun implements LeadListener, ControlChannel.Reader, CoordinatorClient, AutoCloseable {
    private static final long END_SECONDS = 60;

    private final NodeJob job;
    private final CoordinatedCheckpoints coordinated;
    private final CheckpointQueue checkpoints;
    private final CompletableFuture<Void> begun = new CompletableFuture<>();
    private final LeadEnd end;
    private final Path cache;
    private final LostUnits lost;
    private final Timing timing;
    private final RestartTimes restart;
    private final UnitCopies copies;
    private final RankStatus rankStatus;
    private NodeHandle node;
    private ControlChannel control;
    private volatile NodeCounts counted = NodeCounts.NONE;
    private LeadAddresses addresses;
    private LeadPmi pmi;
    private boolean saidBegun;
    private LeadNodes nodes;

    private LeadRun(Settings settings, NodeJob job, CheckpointDestination destination, Map<String, String> labels,
            CoordinatedCheckpoints.JobTables tables, UnitCopies copies, Set<String> lostHosts) {
        this.job = job;
        this.copies = copies;
        this.rankStatus = new RankStatus(job);
        List<String> hosts = UnitNames.of(job);
        this.restart = new RestartTimes(hosts);
        this.timing = timing(settings);
        this.lost = new LostUnits(job, timing, lostHosts);
        this.cache = RuntimeDirectory.base(settings).resolve(job.name() + ".shelf");
        this.coordinated =
                new CoordinatedCheckpoints(job.name(), hosts, job.ranks(), labels, settings, destination, this, tables);
        this.checkpoints = new CheckpointQueue(job.name(), settings, destination.directory(), coordinated,
                destination.onComplete());
        this.end = new LeadEnd(job, coordinated, this::coordinator, this::sayBegun);
    }

    private static Timing timing(Settings settings) {
        Duration lease = settings.duration(Option.HEARTBEAT_TIMEOUT);
        if (lease.compareTo(Duration.ofSeconds(1)) < 0 || lease.compareTo(Timing.LONGEST_LEASE) > 0) {
            throw settings.bad(Option.HEARTBEAT_TIMEOUT, "1s to " + Timing.LONGEST_LEASE.toDays() + "d");
        }
        return Timing.ofLease(lease);
    }

    /**
     * Returns when all ranks run. The job's credential is in its runtime directory from before its first agent on.
     *
     * @param destination where its checkpoints go
     * @param labels of them
     * @param tables what the lead writes into them
     * @param copies gets to know the agents, for as long as they are there
     * @param lostHosts is told of hosts that are lost, or whose agents did not come
     * @throws Failure with what kept it from beginning; nothing is left then
     */
    public static LeadRun start(Settings settings, Starter starter, NodeJob job, CheckpointDestination destination,
            Map<String, String> labels, CoordinatedCheckpoints.JobTables tables, UnitCopies copies,
            Set<String> lostHosts) throws InterruptedException {
        JobCredential credential = JobCredential.generate();
        CredentialFile.create(RuntimeDirectory.base(settings).resolve(job.name()).resolve(CredentialFile.NAME),
                credential);
        LeadRun run = gather(settings, starter, credential,
                new LeadRun(settings, job, destination, labels, tables, copies, lostHosts));
        try {
            run.node.thread().execute(run::begin);
            run.begun.get();
            return run;
        } catch (ExecutionException e) {
            run.giveUp();
            throw Failure.of("starting job " + job.name(), e.getCause());
        } catch (InterruptedException | RuntimeException e) {
            run.giveUp();
            throw e;
        }
    }

    /**
     * Agents without ranks, for what they have on their hosts; to be ended by {@link #disband}. Returns when all are
     * there. @see #start
     */
    public static LeadRun gather(Settings settings, Starter starter, NodeJob job, UnitCopies copies,
            Set<String> lostHosts) throws InterruptedException {
        CheckpointDestination none =
                new CheckpointDestination(Path.of("/"), () -> {}, () -> {}, Optional.empty(), new Damage());
        return gather(settings, starter, JobCredential.generate(),
                new LeadRun(settings, job, none, Map.of(), (_, _) -> {}, copies, lostHosts));
    }

    private static LeadRun gather(Settings settings, Starter starter, JobCredential credential, LeadRun run)
            throws InterruptedException {
        try {
            run.nodes = LeadNodes.start(settings, starter, run.job, run.timing, credential, run);
            return run;
        } catch (InterruptedException | RuntimeException | Error e) {
            if (run.addresses != null) {
                run.addresses.close();
            }
            throw e;
        }
    }

    /** Ends agents that have no ranks. */
    public void disband() {
        giveUp();
    }

    /** No process of the job is left anywhere when the first agent puts its files as they were. */
    private void giveUp() {
        end(ExitCode.IO.value());
        try {
            end.future().handle((_, _) -> null).get(END_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            Messages.warn("not all ranks of job " + job.name() + " have ended within " + END_SECONDS + " s");
        }
        close();
    }

    private void begin(long now) {
        if (job.image() == null) {
            coordinator().start(now, Op.START);
        } else {
            coordinator().start(now, Op.FILES, Op.START, Op.EXCHANGE, Op.CONNECT, Op.OPEN);
        }
    }

    public CheckpointQueue checkpoints() {
        return checkpoints;
    }

    /** What it took to tell all nodes that the last checkpoint is complete; null: there was none. */
    public CallRow committed() {
        return coordinated.committed();
    }

    NodeJob job() {
        return job;
    }

    private Coordinator coordinator() {
        return node.part().coordinator();
    }

    /** Waits for the end of all ranks; the job's exit code. */
    public int await() throws InterruptedException {
        try {
            return end.future().get();
        } catch (ExecutionException e) {
            throw Failure.of("job " + job.name(), e.getCause());
        }
    }

    /** Passes a signal on to all ranks. From any thread. */
    public void signal(int number) {
        toAll(new ControlMessage.Signal(number));
    }

    /** Ends the job with this code. From any thread. */
    public void end(int code) {
        node.thread().execute(now -> {
            end.decide(code);
            end.atOnce(now);
        });
    }

    /** To the units of a restarted job, once: whether their files stay as they were put back. */
    private void sayBegun(boolean all, long now) {
        if (job.image() != null && !saidBegun) {
            saidBegun = true;
            control.toAll(new ControlMessage.Begun(all).encode(), now);
        }
    }

    @Override
    public void joined(NodeHandle handle) {
        node = handle;
        control = handle.part().control(this);
        handle.part().totals(NodeCounts.NONE.encode(), all -> counted = NodeCounts.of(all));
        addresses = new LeadAddresses(handle, job, cache);
        pmi = new LeadPmi(handle);
        copies.open(this::toAll);
        rankStatus.open(this::toAll);
    }

    /** From any thread. */
    private void toAll(ControlMessage.ToUnits message) {
        node.thread().execute(now -> control.toAll(message.encode(), now));
    }

    @Override
    public void table(int from, byte[] subject, VectorSchemaRoot table) {
        rankStatus.table(from, subject, table);
    }

    /** What the units tell of their ranks. */
    public RankStatus rankStatus() {
        return rankStatus;
    }

    @Override
    public void started(CallResult tally, long now) {
        sayBegun(tally.failure() == null, now);
        if (tally.failure() == null) {
            if (job.image() != null) {
                Messages.info("the ranks run: " + restart);
            }
            begun.complete(null);
            return;
        }
        Failure failure = CodedText.parse("", tally.failure().text(), ExitCode.INTERNAL);
        String where = tally.failure().node() == 0 ? "" : unit(tally.failure().node()) + ": ";
        begun.completeExceptionally(new Failure(failure.code(), where + failure.getMessage(), failure));
    }

    private String unit(int number) {
        return UnitNames.place(job.units().get(NodeJob.unit(number)));
    }

    /** What all agents have counted, as of a few seconds ago. */
    public NodeCounts counted() {
        return counted;
    }

    @Override
    public void fromNode(int from, byte[] bytes, long now) throws MalformedMessage {
        switch (ControlMessage.fromUnit(bytes)) {
            case ControlMessage.Report report -> {
                if (report.part().node().index() != NodeJob.unit(from)) {
                    throw new MalformedMessage("node " + from + " reports a part of node "
                            + report.part().node().index() + " of an image");
                }
                coordinated.report(report.part());
            }
            case ControlMessage.Ends ends -> {
                if (!end.begun()) {
                    Messages.error(ends.why() + (job.units().size() > 1 ? "; ending the ranks on the other hosts" : ""),
                            null);
                }
                ends.code().ifPresent(end::decide);
                control.toAll(new ControlMessage.Signal(SIGKILL).encode(), now);
                end.orderly(now);
            }
            case ControlMessage.Ended ended -> end.ended(NodeJob.unit(from), ended.code(), now);
            case ControlMessage.Revived unit -> restart.revived(NodeJob.unit(from), unit.phases());
            case ControlMessage.Copied message -> copies.copied(NodeJob.unit(from), message);
        }
    }

    @Override
    public void fromRoot(byte[] message, long now) throws MalformedMessage {
        throw new MalformedMessage("a message of the root for itself");
    }

    @Override
    public void commit(long checkpoint, long now) {
        coordinated.commit(checkpoint);
    }

    @Override
    public void called(CheckpointOutcome.CallTime call, long now) {
        coordinated.called(call);
        restart.called(call);
    }

    @Override
    public void ended(CheckpointOutcome outcome, long now) {
        coordinated.ended(outcome);
        if (outcome.committed()) {
            LeadGuard.committed(outcome.checkpoint());
        }
        end.checkpointEnded(now);
    }

    @Override
    public void jobEnded(CallResult tally, long now) {
        for (int unit = 0; unit < job.units().size(); unit++) {
            if (!end.has(unit) && begun.isDone() && !begun.isCompletedExceptionally() && lost.silent(unit, now)) {
                end.decide(ExitCode.IO.value());
                Messages.error(unit(NodeJob.node(unit)) + " did not report that its ranks have ended"
                        + (tally.failure() == null ? "" : " (" + tally.failure().text() + ")"), null);
            }
        }
        end.complete();
        // its ranks may end before all nodes have said that theirs run; what kept it from that has been told of before
        begun.complete(null);
    }

    @Override
    public void lost(int number, long now) {
        lost.silent(NodeJob.unit(number), now);
        lost(unit(number) + " has sent no heartbeat for too long", now);
    }

    @Override
    public void agentsEnded(List<Integer> units, boolean byItself, String reason, long now) {
        if (byItself) {
            lost.endedByItself(units);
        }
        if (!end.begun() || !byItself && !end.hasAll(units)) {
            lost.add(units, !byItself, now);
            lost(reason, now);
        }
    }

    @Override
    public void missing(List<Integer> units) {
        lost.missing(units);
    }

    private void lost(String why, long now) {
        copies.close(why);
        end.because(why, now);
    }

    /** All ranks, on all hosts. */
    public boolean hasEnded() {
        return end.future().isDone();
    }

    public LostUnits lostOnes() {
        return lost;
    }

    @Override
    public void failed(Throwable cause) {
        coordinated.abandon("the job's lead has failed");
        copies.close("the job's lead has failed");
        rankStatus.close();
        Failure failure = Failure.of("the lead of job " + job.name(),
                cause instanceof Exception e ? e : new IllegalStateException(cause));
        begun.completeExceptionally(failure);
        end.future().completeExceptionally(failure);
    }

    @Override
    public void checkpoint(long number, String order) {
        node.thread().execute(now -> {
            if (coordinator().isReady() && !end.begun()) {
                coordinator().checkpoint(number, order, now);
            } else {
                coordinated.ended(new CheckpointOutcome(number, false, ExitCode.BUSY.value()
                        + " the nodes are still busy with the previous request", List.of()));
            }
        });
    }

    @Override
    public void manifest(long number, String failure) {
        node.thread().execute(now -> coordinator().manifest(number, failure, now));
    }

    @Override
    public Optional<WriteProgress> written(long number) {
        NodeCounts all = counted;
        return all.checkpoint() == number && all.units() == job.units().size() ? Optional.of(all.write())
                : Optional.empty();
    }

    @Override
    public long[] counts() {
        return pmi.counts();
    }

    /**
     * To be called when all ranks have ended, and before what copies checkpoints does: waits for the image that is
     * being written.
     */
    public void endCheckpoints() throws InterruptedException {
        if (end.future().isDone()) {
            checkpoints.close();
        }
    }

    /** All agents end; a checkpoint that is under way has ended before. */
    @Override
    public void close() {
        copies.close("the job's agents have ended");
        rankStatus.close();
        nodes.close();
        addresses.close();
        try {
            checkpoints.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
