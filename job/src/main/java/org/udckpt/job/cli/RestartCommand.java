package org.udckpt.job.cli;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.udckpt.job.agent.Job;
import org.udckpt.job.config.FilePatterns;
import org.udckpt.job.config.Installation;
import org.udckpt.job.config.NewVariables;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.debug.Debugger;
import org.udckpt.job.launch.DeviceChoice;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.life.FromHosts;
import org.udckpt.job.life.LeadGuard;
import org.udckpt.job.life.Lives;
import org.udckpt.job.life.LostLead;
import org.udckpt.job.life.OneNode;
import org.udckpt.job.life.Onlooker;
import org.udckpt.job.life.Placer;
import org.udckpt.job.life.Planning;
import org.udckpt.job.life.Relocations;
import org.udckpt.job.life.RemoteDebug;
import org.udckpt.job.life.Restart;
import org.udckpt.job.life.SeveralNodes;
import org.udckpt.job.metrics.MetricsOutputs;
import org.udckpt.job.nodes.NodesRequest;
import org.udckpt.job.nodes.Spares;
import org.udckpt.job.nodes.Starter;
import org.udckpt.job.plan.RestartPlan;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.slurm.SlurmNodes;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.ImageOptions;
import org.udckpt.job.store.ImageTrust;
import org.udckpt.job.store.Keys;
import org.udckpt.job.store.Tiers;
import org.udckpt.process.restore.Relocation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code udckpt restart}: a checkpointed job goes on in the foreground, on other addresses. */
@Command(name = "restart", description = "Continue a job from a checkpoint, in the foreground.")
final class RestartCommand implements Callable<Integer> {
    @Mixin
    private MessageOptions common;

    @Mixin
    private DebugOptions debug;

    @picocli.CommandLine.Option(names = "--name", description = "the job's name; default: as before")
    private String name;

    @Mixin
    private CheckpointOptions checkpoints;

    @picocli.CommandLine.Option(names = "--device", description = "soft, auto, or names of verbs devices (a,b), which the hosts take in turn")
    private String device;

    @Mixin
    private PlacementOptions placement;

    @Mixin
    private NodesOptions nodes;

    @picocli.CommandLine.Option(names = "--plan",
            description = "start nothing: print where each rank would go, which addresses would change, which files would be put back, or why it cannot be")
    private boolean plan;

    @picocli.CommandLine.Option(names = "--json", description = "with --plan: as JSON, schema 1")
    private boolean json;

    @picocli.CommandLine.Option(names = "--lazy", paramLabel = "auto|no", description = "whether the job runs while its memory is still being read")
    private String lazy;

    @picocli.CommandLine.Option(names = "--map-path", paramLabel = "OLD=NEW", description = "the job's files at or below OLD are now at NEW: program, libraries, open files; can be given again, the longest counts")
    private List<String> moves = List.of();

    @picocli.CommandLine.Option(names = "--directory", paramLabel = "DIR", description = "the job's working directory; default: as before")
    private String directory;

    @picocli.CommandLine.Option(names = "--env", paramLabel = "NAME=VALUE", description = "an environment variable that the job's programs find when they ask for it again; can be given again")
    private List<String> environment = List.of();

    @Parameters(paramLabel = "DIR[/ID]", description = "a checkpoint, or the newest complete one of a directory or of fast=DIR,slow=DIR")
    private String image;

    @Override
    public Integer call() throws Exception {
        Settings settings = nodes.over(checkpoints.over(common.settings(debug.traces()))).flag(Option.DEVICE, device).flag(Option.LAZY, lazy)
                .flag(Option.ENV, NewVariables.joined(environment)).checked();
        NewVariables.of(settings);
        Optional<SlurmNodes> slurm = nodes.silent() && placement.silent() ? InAllocation.forImage(settings, image) : Optional.empty();
        Optional<NodesRequest> several = nodes.check(slurm.<Starter>map(_ -> new Starter.Srun()).or(() -> ofMachines(settings)));
        placement.check(several.isPresent());
        if (json && !plan) {
            throw new Failure(ExitCode.USAGE, "--json goes with --plan: what runs prints the job's own output");
        }
        FilePatterns.resolve(settings);
        Relocation said = Moves.parse(moves, directory);
        Relocation relocation = several.isPresent() ? said : Relocations.here(said);
        if (checkpoints.tiers() == null) {
            ImageLocation.tiers(image).ifPresent(tiers -> settings.flag(Option.TIERS, tiers.format())); // it goes on where it was
        }
        Tiers.of(settings);
        if (several.isPresent() && !(several.get().starter() instanceof Starter.Local)) {
            DeviceChoice.read(settings); // what is on other hosts they know
        } else {
            DeviceChoice.resolve(settings);
        }
        ImageOptions.check(settings);
        MetricsOutputs.check(settings);
        ImageLocation location = ImageLocation.find(image, Keys.user(settings));
        if (checkpoints.tiers() == null && Tiers.of(settings).filter(tiers -> tiers.has(location.parent())).isEmpty()) {
            settings.flag(Option.TIERS, ""); // the site's, and the job was not there
        }
        ImageTrust.check(settings, location.parent());
        Tiers.of(settings).ifPresent(tiers -> ImageTrust.check(settings, tiers.slow().path()));
        Installation installation = Installation.find(settings);
        Optional<HostLayout> room = slurm.map(nodes -> Spares.aside(settings, nodes.tasks()));
        if (several.isPresent()) {
            placement.setSparesAside(settings);
            Spares.check(settings, List.of());
        }
        Placer place = slurm.isPresent() ? (units, ties) -> InAllocation.place("srun", room.get(), units, ties) : placement;
        if (!json) {
            nodes.tellSimulated();
        }
        return several.isPresent() ? several(settings, installation, several.get(), location, place, relocation) : alone(settings, installation, location, relocation);
    }

    /** One process's ranks stay one process's, whatever their hosts are called. */
    private Optional<Starter> ofMachines(Settings settings) {
        return placement.named() == null || !InAllocation.isOfAgents(settings, ImageLocation.look(image, Keys.user(settings))) ? Optional.empty() : nodes.byName(placement.named());
    }

    private int several(Settings settings, Installation installation, NodesRequest hosts, ImageLocation location, Placer place, Relocation relocation) throws Exception {
        if (debug.selection() != null) {
            throw RemoteDebug.refusal(settings, hosts, location, name, place, debug.selection());
        }
        if (plan) {
            return print(Planning.several(settings, hosts, location, name, place, relocation));
        }
        LeadGuard.enter(settings, installation);
        Optional<LostLead> lost = LostLead.ofThisProcess();
        Optional<ImageLocation> left = lost.flatMap(one -> one.checkpoint(settings, Lives.directory(settings, location)));
        if (left.isPresent()) { // where the files are was said of the one that it began with
            return Lives.run(settings, left.get(), Relocation.NONE,
                    () -> SeveralNodes.restart(settings, installation, hosts, left.get(), lost.get().name(), lost.get().place(settings, place), Relocation.NONE));
        }
        ImageLocation whole = FromHosts.bring(settings, hosts, ImageLocation.tiers(image).or(() -> Tiers.of(settings).filter(tiers -> tiers.has(location.parent()))), location,
                ImageLocation.isNamed(image));
        return Lives.run(settings, whole, relocation, () -> SeveralNodes.restart(settings, installation, hosts, whole, name, place, relocation));
    }

    private int alone(Settings settings, Installation installation, ImageLocation location, Relocation relocation) throws Exception {
        HostLayout layout = placement.simulated();
        Debugger debugger = debug.debugger();
        if (plan) {
            return print(Planning.alone(settings, location, name, layout, relocation));
        }
        if (debugger == null) {
            return Lives.run(settings, location, relocation, () -> new OneNode(settings, installation, Restart.start(settings, installation, location, name, layout, relocation, Onlooker.NONE)));
        }
        if (settings.count(Option.RESTART_ON_FAILURE) > 0) {
            Messages.info("the job is not restarted when it fails: it is in a debugger");
        }
        try (Job job = Restart.start(settings, installation, location, name, layout, relocation, new Onlooker(debugger, null))) {
            int code = job.await();
            debugger.await(); // who looks at the end of a rank may have more to ask
            return code;
        }
    }

    private int print(RestartPlan planned) {
        if (json) {
            JsonOutput.print(PlanJson.of(planned));
        } else {
            PlanText.print(planned);
        }
        return ExitCode.DONE.value();
    }
}
