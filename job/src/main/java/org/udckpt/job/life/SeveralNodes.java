package org.udckpt.job.life;

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
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.job.agent.AskedEnd;
import org.udckpt.job.agent.Signals;
import org.udckpt.job.agent.StandardStreams;
import org.udckpt.job.agent.UserSignals;
import org.udckpt.job.checkpoint.CoordinatedCheckpoints;
import org.udckpt.job.checkpoint.Periodic;
import org.udckpt.job.command.CommandServer;
import org.udckpt.job.config.Installation;
import org.udckpt.job.config.Interval;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.launch.Launch;
import org.udckpt.job.launch.RawText;
import org.udckpt.job.metrics.JobMetrics;
import org.udckpt.job.metrics.MetricsOutputs;
import org.udckpt.job.nodes.NodeJob;
import org.udckpt.job.nodes.NodesRequest;
import org.udckpt.job.nodes.Placement;
import org.udckpt.job.nodes.Spares;
import org.udckpt.job.nodes.Starter;
import org.udckpt.job.nodes.Unit;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.runtime.JobFile;
import org.udckpt.job.runtime.ProcessTimes;
import org.udckpt.job.runtime.RuntimeDirectory;
import org.udckpt.job.store.CheckpointHold;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.JobState;
import org.udckpt.job.store.Keys;
import org.udckpt.job.store.StateTables;
import org.udckpt.job.store.Tiers;
import org.udckpt.job.tiers.Drain;
import org.udckpt.process.restore.Relocation;

/** A life of a job on several hosts, in the process that its user started: its lead, what other commands find of it, and the user's signals. */
public final class SeveralNodes implements Life, CommandServer.Handler {

    private final Settings settings;
    private final Installation installation;
    private final Starter starter;
    private final NodeJob job;
    private final Path images;
    private final String pmiName;
    /** In any life, also one that did not begin. */
    private final Set<String> lostHosts;
    private final RuntimeDirectory runtime;
    private final UnitCopies copies;
    /** The checkpoint that it was restarted from, if it was. */
    private final CheckpointHold from = new CheckpointHold();
    private final AskedEnd askedEnd = new AskedEnd();
    private final UserSignals userSignals = new UserSignals(askedEnd, this::toRanks, this::endByForce);
    private Optional<Drain> drain = Optional.empty();
    private LeadLife lead;
    private CommandServer commands;
    private Periodic periodic;
    private MetricsOutputs metrics;

    private SeveralNodes(Settings settings, Installation installation, Starter starter, NodeJob job, Path images, String pmiName, Set<String> lostHosts) {
        this.settings = settings;
        this.installation = installation;
        this.starter = starter;
        this.job = job;
        this.images = images;
        this.pmiName = pmiName;
        this.lostHosts = lostHosts;
        this.copies = new UnitCopies(job.units(), Draining.parts(settings, job.name()));
        this.runtime = RuntimeDirectory.create(settings, job.name());
    }

    /**
     * Returns when all ranks run.
     *
     * @param images  where its checkpoints go, absolute
     * @param pmiName of PMI's key-value space, the same in all lives
     */
    public static SeveralNodes start(Settings settings, Installation installation, Starter starter, NodeJob job, Path images, String pmiName) throws InterruptedException {
        return start(new SeveralNodes(settings, installation, starter, job, images, pmiName, LostLead.lostHosts()));
    }

    private static SeveralNodes start(SeveralNodes life) throws InterruptedException {
        try {
            life.begin();
            return life;
        } catch (IOException | RuntimeException e) {
            life.close();
            throw Failure.of("starting job " + life.name(), e);
        } catch (InterruptedException e) {
            life.close();
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
    public static SeveralNodes restart(Settings settings, Installation installation, NodesRequest nodes, ImageLocation location, String name, Placer place, Relocation moved)
            throws InterruptedException {
        return restart(settings, installation, nodes, location, name, place, moved, LostLead.lostHosts());
    }

    private static SeveralNodes restart(Settings settings, Installation installation, NodesRequest nodes, ImageLocation location, String name, Placer place, Relocation moved,
            Set<String> lostHosts) throws InterruptedException {
        try (CheckpointReader reader = location.open(Keys.user(settings)); OneRestart _ = OneRestart.of(location.parent(), Tiers.of(settings))) {
            SeveralImage image = SeveralImage.read(location, reader);
            NodeJob job = image.next(nodes.fanOut(), name, place, moved);
            Path images = Lives.directory(settings, location);
            SeveralNodes life = new SeveralNodes(settings, installation, nodes.starter(), job, images, image.state().row().pmiName(), lostHosts);
            life.from.move(location.entry().directory());
            return start(life);
        } catch (IOException e) {
            throw Failure.of("restart from " + location.entry().directory(), e);
        }
    }

    private void begin() throws IOException, InterruptedException {
        SeveralImage.requireNames(job);
        Spares.names(settings);
        settings.flag(Option.DIR, images.toString()); // the agents' working directory is another one
        long self = ProcessHandle.current().pid();
        new JobFile(job.name(), images.toString(), job.ranks(), job.command().stream().map(RawText::shown).toList(), self, ProcessTimes.start(self), 0, 0, job.generation()).write(runtime.path());
        JobState state = JobState.of(job.name(), layout(), job.command().stream().map(RawText::shown).toList(), job.generation(), pmiName);
        Map<String, String> labels = Map.of(Draining.JOB, job.name(), "program", state.row().program(), "generation", Integer.toString(job.generation()), Launch.LABEL, job.launch().word());
        Tiers.of(settings).ifPresent(tiers -> settings.flag(Option.TIERS, tiers.format())); // as that of DIR
        drain = Draining.start(settings, job.name(), copies);
        lead = LeadLife.start(settings, starter, job, Draining.keeping(settings, job.name(), images, drain, Draining.parts(settings, job.name())), labels, (writer, stops) -> {
            StateTables.write(writer, state);
            StateTables.write(writer, stops);
        }, copies, lostHosts);
        if (settings.count(Option.RESTART_ON_FAILURE) > 0) {
            LeadGuard.running(job.name(), settings.count(Option.RESTART_ON_FAILURE), TimeUnit.NANOSECONDS.toMillis(lead.lostOnes().bound()), lostHosts);
        }
        metrics = new MetricsOutputs(settings);
        metrics.open(() -> new JobMetrics(new WatchedLead(lead, images, drain)));
        Signals.forward(installation.agentLibrary(), this::signal);
        Signals.refuseStop("the job's hosts would not hear of their lead any more, and end it");
        commands = CommandServer.start(runtime.commandSocket(), this);
        Interval interval = Interval.of(settings);
        if (!(interval instanceof Interval.Never)) {
            periodic = Periodic.start(lead.checkpoints(), interval);
        }
    }

    /** The virtual hosts, as the ranks see them. */
    private HostLayout layout() {
        return new HostLayout(job.units().stream().map(unit -> new HostLayout.Host(unit.name(), unit.count())).toList());
    }

    private void signal(int number) {
        if (Signals.asksForEnd(number)) {
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
    public String checkpoint(CommandServer.Progress progress, boolean wait, OptionalInt end) {
        return end.isEmpty() ? lead.checkpoints().take(progress, wait) : lead.checkpoints().takeLast(progress, () -> end(end.getAsInt()));
    }

    @Override
    public ObjectNode status() {
        ObjectNode status = LeadStatus.of(job, images, lead.checkpoints(), lead.committed(), lead.counted(), drain);
        try {
            LeadRanks.describe(status, job, lead.census());
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
    public Life again(ImageLocation location, Relocation relocation) throws InterruptedException {
        lead.lostOnes().awaitEnd();
        if (spares().stream().allMatch(lostHosts::contains) && job.units().stream().allMatch(unit -> lostHosts.contains(unit.host()))) {
            Messages.warn("no host of job " + name() + " is left: those that were lost are tried again");
            lostHosts.clear();
        }
        List<Unit> placed = Placement.without(lostHosts, job.units(), new ArrayList<>(spares()));
        for (Unit unit : placed) {
            String before = job.units().get(placed.indexOf(unit)).host();
            if (!before.equals(unit.host())) {
                Messages.info(unit.ranks() + (unit.count() == 1 ? " moves" : " move") + " from host " + before + " to " + unit.host());
            }
        }
        return restart(settings, installation, new NodesRequest(starter, job.fanOut()), location, job.name(), (_, _) -> placed, relocation, lostHosts);
    }

    /** Hosts that have no units. */
    private List<String> spares() {
        Set<String> used = job.units().stream().map(Unit::host).collect(Collectors.toSet());
        return Spares.names(settings).stream().filter(host -> !used.contains(host)).toList();
    }

    @Override
    public void closeForNextLife() {
        if (!needsAgents()) {
            drain.ifPresent(Drain::leaveToNextLife);
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
                lead.census().close(); // who waits for answers would keep the commands' end
            }
            if (commands != null) {
                commands.close();
            }
        } catch (IOException e) {
            Messages.warn("closing the command socket of job " + job.name() + ": " + e.getMessage());
        } finally {
            try {
                if (lead != null) {
                    if (needsAgents() && lead.hasEnded()) { // else nobody waits for a copy while ranks run that are to end
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

    /** Whether only its hosts can copy a checkpoint: the next life may be on others. */
    private boolean needsAgents() {
        return drain.isPresent() && Tiers.of(settings).orElseThrow().local();
    }

    /** By agents whose ranks have ended. */
    private void copyLast() {
        try {
            lead.endCheckpoints();
            drain.get().close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The last checkpoint is complete, and has to be copied; metrics come after all that they tell of. */
    private void closeDrainAndMetrics() {
        boolean asked = Thread.interrupted();
        try {
            if (drain.isPresent()) {
                drain.get().close();
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
