package org.udckpt.lifecycle;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.udckpt.agent.EndRequest;
import org.udckpt.agent.SignalForwarding;
import org.udckpt.agent.StandardStreams;
import org.udckpt.agent.UserSignals;
import org.udckpt.agent.command.CommandServer;
import org.udckpt.agent.command.JobCommands;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.NodesRequest;
import org.udckpt.cluster.Placement;
import org.udckpt.cluster.SpareHosts;
import org.udckpt.cluster.Starter;
import org.udckpt.cluster.Unit;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.LaunchMode;
import org.udckpt.lifecycle.checkpoint.PeriodicCheckpoints;
import org.udckpt.lifecycle.job.JobStorage;
import org.udckpt.lifecycle.lead.LeadGuard;
import org.udckpt.lifecycle.lead.LeadMetricsSource;
import org.udckpt.lifecycle.lead.LeadRanks;
import org.udckpt.lifecycle.lead.LeadRun;
import org.udckpt.lifecycle.lead.LeadStatus;
import org.udckpt.lifecycle.lead.LostLead;
import org.udckpt.lifecycle.lead.Placer;
import org.udckpt.lifecycle.lead.UnitCopies;
import org.udckpt.lifecycle.metrics.JobMetrics;
import org.udckpt.lifecycle.metrics.MetricsOutputs;
import org.udckpt.lifecycle.restart.RestartLock;
import org.udckpt.linux.RawText;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.CheckpointHold;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.JobState;
import org.udckpt.store.Keys;
import org.udckpt.store.StateTables;
import org.udckpt.store.Tiers;
import org.udckpt.store.tiers.TierFlush;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Interval;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.runtime.JobRecord;
import org.udckpt.support.runtime.ProcessTimes;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * An incarnation of a job on several hosts, in the process that its user started: its lead, what other commands find of
 * it, and the user's signals.
 */
public final class MultiHostRun implements JobRun, JobCommands.Whole {

    private final Settings settings;
    private final Installation installation;
    private final Starter starter;
    private final NodeJob job;
    private final Path images;
    private final String pmiName;
    /** In any incarnation, also one that did not begin. */
    private final Set<String> lostHosts;
    private final RuntimeDirectory runtime;
    private final UnitCopies copies;
    /** The checkpoint that it was restarted from, if it was. */
    private final CheckpointHold from = new CheckpointHold();
    private final EndRequest askedEnd = new EndRequest();
    private final UserSignals userSignals = new UserSignals(askedEnd, this::toRanks, this::endByForce);
    private Optional<TierFlush> flush = Optional.empty();
    private LeadRun lead;
    private CommandServer commands;
    private PeriodicCheckpoints periodic;
    private MetricsOutputs metrics;

    private MultiHostRun(Settings settings, Installation installation, Starter starter, NodeJob job, Path images,
            String pmiName, Set<String> lostHosts) {
        this.settings = settings;
        this.installation = installation;
        this.starter = starter;
        this.job = job;
        this.images = images;
        this.pmiName = pmiName;
        this.lostHosts = lostHosts;
        this.copies = new UnitCopies(job.units(), JobStorage.parts(settings, job.name()));
        this.runtime = RuntimeDirectory.create(settings, job.name());
    }

    /**
     * Returns when all ranks run.
     *
     * @param images  where its checkpoints go, absolute
     * @param pmiName of PMI's key-value space, the same in all incarnations
     */
    public static MultiHostRun start(Settings settings, Installation installation, Starter starter, NodeJob job,
            Path images, String pmiName) throws InterruptedException {
        return start(new MultiHostRun(settings, installation, starter, job, images, pmiName, LostLead.lostHosts()));
    }

    private static MultiHostRun start(MultiHostRun run) throws InterruptedException {
        try {
            run.begin();
            return run;
        } catch (IOException | RuntimeException e) {
            run.close();
            throw Failure.of("starting job " + run.name(), e);
        } catch (InterruptedException e) {
            run.close();
            throw e;
        }
    }

    /**
     * Restarts a job on several hosts; returns when all ranks run.
     *
     * @param name  null: as before
     * @param place says where its units go, given where they were
     * @param moved where its files are now, as each host has them
     */
    public static MultiHostRun restart(Settings settings, Installation installation, NodesRequest nodes,
            ImageLocation location, String name, Placer place, Relocation moved)
            throws InterruptedException {
        return restart(settings, installation, nodes, location, name, place, moved, LostLead.lostHosts());
    }

    private static MultiHostRun restart(Settings settings, Installation installation, NodesRequest nodes,
            ImageLocation location, String name, Placer place, Relocation moved,
            Set<String> lostHosts) throws InterruptedException {
        try (CheckpointReader reader = location.open(Keys.user(settings));
                RestartLock _ = RestartLock.of(location.parent(), Tiers.of(settings))) {
            MultiHostImage image = MultiHostImage.read(location, reader);
            NodeJob job = image.next(nodes.fanOut(), name, place, moved);
            Path images = RestartSupervisor.directory(settings, location);
            MultiHostRun run = new MultiHostRun(settings, installation, nodes.starter(), job, images,
                    image.state().row().pmiName(), lostHosts);
            run.from.move(location.entry().directory());
            return start(run);
        } catch (IOException e) {
            throw Failure.of("restart from " + location.entry().directory(), e);
        }
    }

    private void begin() throws IOException, InterruptedException {
        MultiHostImage.requireNames(job);
        SpareHosts.names(settings);
        settings.flag(Option.DIR, images.toString()); // the agents' working directory is another one
        long self = ProcessHandle.current().pid();
        new JobRecord(job.name(), images.toString(), job.ranks(), job.command().stream().map(RawText::shown).toList(),
                self, ProcessTimes.start(self), 0, 0, job.generation()).write(runtime.path());
        JobState state = JobState.of(job.name(), layout(), job.command().stream().map(RawText::shown).toList(),
                job.generation(), pmiName);
        Map<String, String> labels = Map.of(JobStorage.JOB, job.name(), "program", state.row().program(), "generation",
                Integer.toString(job.generation()), LaunchMode.LABEL, job.launch().word());
        Tiers.of(settings).ifPresent(tiers -> settings.flag(Option.TIERS, tiers.format())); // as that of DIR
        flush = JobStorage.startFlush(settings, job.name(), copies);
        lead = LeadRun.start(settings, starter, job,
                JobStorage.destination(settings, job.name(), images, flush, JobStorage.parts(settings, job.name())),
                labels, (writer, stops) -> {
                    StateTables.write(writer, state);
                    StateTables.write(writer, stops);
                }, copies, lostHosts);
        if (settings.count(Option.RESTART_ON_FAILURE) > 0) {
            LeadGuard.running(job.name(), settings.count(Option.RESTART_ON_FAILURE),
                    TimeUnit.NANOSECONDS.toMillis(lead.lostOnes().bound()), lostHosts);
        }
        metrics = new MetricsOutputs(settings);
        metrics.open(() -> new JobMetrics(new LeadMetricsSource(lead, images, flush)));
        SignalForwarding.forward(installation.agentLibrary(), this::signal);
        SignalForwarding.refuseStop("the other hosts would lose contact with a stopped lead and end the job");
        commands = CommandServer.start(runtime.commandSocket(), this);
        Interval interval = Interval.of(settings);
        if (!(interval instanceof Interval.Never)) {
            periodic = PeriodicCheckpoints.start(lead.checkpoints(), interval);
        }
    }

    /** The virtual hosts, as the ranks see them. */
    private HostLayout layout() {
        return new HostLayout(
                job.units().stream().map(unit -> new HostLayout.Host(unit.name(), unit.count())).toList());
    }

    private void signal(int number) {
        if (SignalForwarding.asksForEnd(number)) {
            LeadGuard.over();
        }
        userSignals.received(number);
    }

    private void toRanks(int number) {
        lead.signal(number);
    }

    private void endByForce(int code) {
        lead.end(code);
    }

    @Override
    public String checkpoint(CommandServer.Progress progress, boolean wait, OptionalInt end, boolean detachDebuggers) {
        return end.isEmpty() ? lead.checkpoints().take(progress, wait, detachDebuggers)
                : lead.checkpoints().takeLast(progress, () -> end(end.getAsInt()), detachDebuggers);
    }

    @Override
    public ObjectNode status() {
        ObjectNode status = LeadStatus.of(job, images, lead.checkpoints(), lead.committed(), lead.counted(), flush);
        try {
            LeadRanks.describe(status, job, lead.rankStatus());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of("asking the units for their ranks", e);
        }
        return status;
    }

    @Override
    public String name() {
        return job.name();
    }

    @Override
    public int await() throws InterruptedException {
        int code = lead.await();
        if (!failed(code)) {
            LeadGuard.over();
        }
        return code;
    }

    @Override
    public void end(int code) {
        LeadGuard.over();
        askedEnd.decided();
        lead.end(code);
    }

    @Override
    public boolean failed(int code) {
        return code != 0 && !askedEnd.explains(code) && !StandardStreams.readerGone();
    }

    @Override
    public JobRun again(ImageLocation location, Relocation relocation) throws InterruptedException {
        lead.lostOnes().awaitEnd();
        if (spares().stream().allMatch(lostHosts::contains)
                && job.units().stream().allMatch(unit -> lostHosts.contains(unit.host()))) {
            Messages.warn("no host of job " + name() + " is left: trying the lost hosts again");
            lostHosts.clear();
        }
        List<Unit> placed = Placement.without(lostHosts, job.units(), new ArrayList<>(spares()));
        for (Unit unit : placed) {
            String before = job.units().get(placed.indexOf(unit)).host();
            if (!before.equals(unit.host())) {
                Messages.info(unit.ranks() + (unit.count() == 1 ? " moves" : " move") + " from host " + before + " to "
                        + unit.host());
            }
        }
        return restart(settings, installation, new NodesRequest(starter, job.fanOut()), location, job.name(),
                (_, _) -> placed, relocation, lostHosts);
    }

    /** Hosts that have no units. */
    private List<String> spares() {
        Set<String> used = job.units().stream().map(Unit::host).collect(Collectors.toSet());
        return SpareHosts.names(settings).stream().filter(host -> !used.contains(host)).toList();
    }

    @Override
    public void closeForNextRun() {
        if (!needsAgents()) {
            flush.ifPresent(TierFlush::leaveToNextRun);
        }
        close();
    }

    @Override
    public void close() {
        try {
            if (periodic != null) {
                periodic.close();
            }
            if (lead != null) {
                lead.rankStatus().close(); // who waits for answers would keep the commands' end
            }
            if (commands != null) {
                commands.close();
            }
        } catch (IOException e) {
            Messages.warn("closing the command socket of job " + job.name() + ": " + e.getMessage());
        } finally {
            try {
                if (lead != null) {
                    if (needsAgents() && lead.hasEnded()) {
                        // else nobody waits for a copy while ranks run that are to end
                        copyLast();
                    }
                    lead.close();
                }
                copies.close("the job was not started");
            } finally {
                from.close();
                closeDrainAndMetrics();
                runtime.delete();
            }
        }
    }

    /** Whether only its hosts can copy a checkpoint: the next incarnation may be on others. */
    private boolean needsAgents() {
        return flush.isPresent() && Tiers.of(settings).orElseThrow().local();
    }

    /** By agents whose ranks have ended. */
    private void copyLast() {
        try {
            lead.endCheckpoints();
            flush.get().close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The last checkpoint is complete, and has to be copied; metrics come after all that they tell of. */
    private void closeDrainAndMetrics() {
        boolean asked = Thread.interrupted();
        try {
            if (flush.isPresent()) {
                flush.get().close();
            }
            if (metrics != null) {
                metrics.close();
            }
        } catch (InterruptedException e) {
            asked = true;
        }
        if (asked) {
            Thread.currentThread().interrupt();
        }
    }
}
