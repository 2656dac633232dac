package org.udckpt.job.life;

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
import org.udckpt.job.agent.Signals;
import org.udckpt.job.census.Census;
import org.udckpt.job.checkpoint.Agreement;
import org.udckpt.job.checkpoint.CheckpointQueue;
import org.udckpt.job.checkpoint.CoordinatedCheckpoints;
import org.udckpt.job.checkpoint.Keeping;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.coordinator.Coordinator;
import org.udckpt.job.coordinator.Op;
import org.udckpt.job.coordinator.Outcome;
import org.udckpt.job.exchange.ControlChannel;
import org.udckpt.job.link.CredentialFile;
import org.udckpt.job.link.JobCredential;
import org.udckpt.job.nodes.ControlMessage;
import org.udckpt.job.nodes.LeadAddresses;
import org.udckpt.job.nodes.LeadNodes;
import org.udckpt.job.nodes.LeadPart;
import org.udckpt.job.nodes.LeadPmi;
import org.udckpt.job.nodes.NodeCounts;
import org.udckpt.job.nodes.NodeHandle;
import org.udckpt.job.nodes.NodeJob;
import org.udckpt.job.nodes.Starter;
import org.udckpt.job.report.CodedText;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.report.WriteProgress;
import org.udckpt.job.runtime.RuntimeDirectory;
import org.udckpt.job.store.CallRow;
import org.udckpt.job.store.Damage;
import org.udckpt.job.tree.MalformedMessage;
import org.udckpt.job.tree.Tally;
import org.udckpt.job.tree.Timing;

/**
 * A life of a job of several nodes, as its lead has it: begins it through the coordinator, hears of its ranks' ends, and ends it where a node is lost. All
 * of {@link LeadPart} and {@link ControlChannel.Reader} comes in the node's thread, but for {@link #joined}, {@link #missing}, {@link #table} and {@link #failed}.
 */
final class LeadLife implements LeadPart, ControlChannel.Reader, Agreement, AutoCloseable {
    private static final long END_SECONDS = 60;

    private final NodeJob job;
    private final CoordinatedCheckpoints coordinated;
    private final CheckpointQueue checkpoints;
    private final CompletableFuture<Void> begun = new CompletableFuture<>();
    private final LeadEnd end;
    private final Path shelf;
    private final LostUnits lost;
    private final Timing timing;
    private final RestartTimes restart;
    private final UnitCopies copies;
    private final Census census;
    private NodeHandle node;
    private ControlChannel control;
    private volatile NodeCounts counted = NodeCounts.NONE;
    private LeadAddresses addresses;
    private LeadPmi pmi;
    private boolean saidBegun;
    private LeadNodes nodes;

    private LeadLife(Settings settings, NodeJob job, Keeping keeping, Map<String, String> labels, CoordinatedCheckpoints.JobTables tables, UnitCopies copies, Set<String> lostHosts) {
        this.job = job;
        this.copies = copies;
        this.census = new Census(job);
        List<String> hosts = UnitNames.of(job);
        this.restart = new RestartTimes(hosts);
        this.timing = timing(settings);
        this.lost = new LostUnits(job, timing, lostHosts);
        this.shelf = RuntimeDirectory.base(settings).resolve(job.name() + ".shelf");
        this.coordinated = new CoordinatedCheckpoints(job.name(), hosts, job.ranks(), labels, settings, keeping, this, tables);
        this.checkpoints = new CheckpointQueue(job.name(), settings, keeping.directory(), coordinated, keeping.kept());
        this.end = new LeadEnd(job, coordinated, this::coordinator, this::sayBegun);
    }

    /** With a beat for each tenth of a lease. */
    private static Timing timing(Settings settings) {
        Duration lease = settings.duration(Option.LEASE);
        if (lease.compareTo(Duration.ofSeconds(1)) < 0) {
            throw settings.bad(Option.LEASE, "at least 1s");
        }
        return new Timing(lease.toNanos() / 10, lease.toNanos(), Timing.USUAL.start());
    }

    /**
     * Returns when all ranks run. The job's credential is in its runtime directory from before its first agent on.
     *
     * @param keeping of its checkpoints
     * @param labels of them
     * @param tables what the lead writes into them
     * @param copies gets to know the agents, for as long as they are there
     * @param lostHosts is told of hosts that are lost, or whose agents did not come
     * @throws Failure with what kept it from beginning; nothing is left then
     */
    static LeadLife start(Settings settings, Starter starter, NodeJob job, Keeping keeping, Map<String, String> labels, CoordinatedCheckpoints.JobTables tables, UnitCopies copies,
            Set<String> lostHosts) throws InterruptedException {
        JobCredential credential = JobCredential.generate();
        CredentialFile.create(RuntimeDirectory.base(settings).resolve(job.name()).resolve(CredentialFile.NAME), credential);
        LeadLife life = gather(settings, starter, credential, new LeadLife(settings, job, keeping, labels, tables, copies, lostHosts));
        try {
            life.node.thread().execute(life::begin);
            life.begun.get();
            return life;
        } catch (ExecutionException e) {
            life.giveUp();
            throw Failure.of("starting job " + job.name(), e.getCause());
        } catch (InterruptedException | RuntimeException e) {
            life.giveUp();
            throw e;
        }
    }

    /** Agents without ranks, for what they have on their hosts; to be ended by {@link #disband}. Returns when all are there. @see #start */
    static LeadLife gather(Settings settings, Starter starter, NodeJob job, UnitCopies copies, Set<String> lostHosts) throws InterruptedException {
        Keeping none = new Keeping(Path.of("/"), () -> { }, () -> { }, Optional.empty(), new Damage());
        return gather(settings, starter, JobCredential.generate(), new LeadLife(settings, job, none, Map.of(), (_, _) -> { }, copies, lostHosts));
    }

    private static LeadLife gather(Settings settings, Starter starter, JobCredential credential, LeadLife life) throws InterruptedException {
        try {
            life.nodes = LeadNodes.start(settings, starter, life.job, life.timing, credential, life);
            return life;
        } catch (InterruptedException | RuntimeException | Error e) {
            if (life.addresses != null) {
                life.addresses.close();
            }
            throw e;
        }
    }

    /** Ends agents that have no ranks. */
    void disband() {
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

    CheckpointQueue checkpoints() {
        return checkpoints;
    }

    /** What it took to tell all nodes that the last checkpoint is complete; null: there was none. */
    CallRow committed() {
        return coordinated.committed();
    }

    NodeJob job() {
        return job;
    }

    private Coordinator coordinator() {
        return node.part().coordinator();
    }

    /** Waits for the end of all ranks; the job's exit code. */
    int await() throws InterruptedException {
        try {
            return end.future().get();
        } catch (ExecutionException e) {
            throw Failure.of("job " + job.name(), e.getCause());
        }
    }

    /** Passes a signal on to all ranks. From any thread. */
    void signal(int number) {
        toAll(new ControlMessage.Signal(number));
    }

    /** Ends the job with this code. From any thread. */
    void end(int code) {
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
        addresses = new LeadAddresses(handle, job, shelf);
        pmi = new LeadPmi(handle);
        copies.open(this::toAll);
        census.open(this::toAll);
    }

    /** From any thread. */
    private void toAll(ControlMessage.ToUnits message) {
        node.thread().execute(now -> control.toAll(message.encode(), now));
    }

    @Override
    public void table(int from, byte[] subject, VectorSchemaRoot table) {
        census.table(from, subject, table);
    }

    /** What the units tell of their ranks. */
    Census census() {
        return census;
    }

    @Override
    public void started(Tally tally, long now) {
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
    NodeCounts counted() {
        return counted;
    }

    @Override
    public void fromNode(int from, byte[] bytes, long now) throws MalformedMessage {
        switch (ControlMessage.fromUnit(bytes)) {
            case ControlMessage.Report report -> {
                if (report.part().node().index() != NodeJob.unit(from)) {
                    throw new MalformedMessage("node " + from + " reports a part of node " + report.part().node().index() + " of an image");
                }
                coordinated.report(report.part());
            }
            case ControlMessage.Ends ends -> {
                if (!end.begun()) {
                    Messages.error(ends.why() + (job.units().size() > 1 ? "; ending the ranks on the other hosts" : ""), null);
                }
                ends.code().ifPresent(end::decide);
                control.toAll(new ControlMessage.Signal(Signals.SIGKILL).encode(), now);
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
    public void called(Outcome.CallTime call, long now) {
        coordinated.called(call);
        restart.called(call);
    }

    @Override
    public void ended(Outcome outcome, long now) {
        coordinated.ended(outcome);
        if (outcome.committed()) {
            LeadGuard.committed(outcome.checkpoint());
        }
        end.checkpointEnded(now);
    }

    @Override
    public void jobEnded(Tally tally, long now) {
        for (int unit = 0; unit < job.units().size(); unit++) {
            if (!end.has(unit) && begun.isDone() && !begun.isCompletedExceptionally() && lost.silent(unit, now)) {
                end.decide(ExitCode.IO.value());
                Messages.error(unit(NodeJob.node(unit)) + " has not said that its ranks have ended" + (tally.failure() == null ? "" : " (" + tally.failure().text() + ")"), null);
            }
        }
        end.complete();
        begun.complete(null); // its ranks may end before all nodes have said that theirs run; what kept it from that has been told of before
    }

    @Override
    public void lost(int number, long now) {
        lost.silent(NodeJob.unit(number), now);
        lost(unit(number) + " has not been heard of for too long", now);
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
    boolean hasEnded() {
        return end.future().isDone();
    }

    LostUnits lostOnes() {
        return lost;
    }

    @Override
    public void failed(Throwable cause) {
        coordinated.abandon("the job's lead has failed");
        copies.close("the job's lead has failed");
        census.close();
        Failure failure = Failure.of("the lead of job " + job.name(), cause instanceof Exception e ? e : new IllegalStateException(cause));
        begun.completeExceptionally(failure);
        end.future().completeExceptionally(failure);
    }

    @Override
    public void checkpoint(long number, String order) {
        node.thread().execute(now -> {
            if (coordinator().isReady() && !end.begun()) {
                coordinator().checkpoint(number, order, now);
            } else {
                coordinated.ended(new Outcome(number, false, ExitCode.BUSY.value() + " the nodes are still busy with what came before", List.of()));
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
        return all.checkpoint() == number && all.units() == job.units().size() ? Optional.of(all.write()) : Optional.empty();
    }

    @Override
    public long[] counts() {
        return pmi.counts();
    }

    /** To be called when all ranks have ended, and before what copies checkpoints does: waits for the image that is being written. */
    void endCheckpoints() throws InterruptedException {
        if (end.future().isDone()) {
            checkpoints.close();
        }
    }

    /** All agents end; a checkpoint that is under way has ended before. */
    @Override
    public void close() {
        copies.close("the job's agents have ended");
        census.close();
        nodes.close();
        addresses.close();
        try {
            checkpoints.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
