package org.udckpt.cli;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.udckpt.agent.Job;
import org.udckpt.cluster.NodesRequest;
import org.udckpt.cluster.SpareHosts;
import org.udckpt.cluster.Starter;
import org.udckpt.inspect.debug.Debugger;
import org.udckpt.inspect.plan.RestartPlan;
import org.udckpt.launch.DeviceChoice;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.slurm.SlurmNodes;
import org.udckpt.lifecycle.FastTierRecovery;
import org.udckpt.lifecycle.MultiHostRun;
import org.udckpt.lifecycle.RemoteDebug;
import org.udckpt.lifecycle.RestartPlanning;
import org.udckpt.lifecycle.RestartSupervisor;
import org.udckpt.lifecycle.SingleHostRun;
import org.udckpt.lifecycle.lead.LeadGuard;
import org.udckpt.lifecycle.lead.LostLead;
import org.udckpt.lifecycle.lead.Placer;
import org.udckpt.lifecycle.metrics.MetricsOutputs;
import org.udckpt.lifecycle.restart.InspectionOptions;
import org.udckpt.lifecycle.restart.Relocations;
import org.udckpt.lifecycle.restart.Restart;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.ImageOptions;
import org.udckpt.store.ImageTrust;
import org.udckpt.store.Keys;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.FilePatterns;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.NewVariables;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
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

    @picocli.CommandLine.Option(names = "--device", description = "verbs device: soft, auto, or device names (a,b), "
            + "which the hosts use in turn")
    private String device;

    @Mixin
    private PlacementOptions placement;

    @Mixin
    private NodesOptions nodes;

    @picocli.CommandLine.Option(names = "--plan",
            description = "start nothing: print where each rank would run, which addresses would change and which "
                    + "files would be restored, or why the restart is impossible")
    private boolean plan;

    @picocli.CommandLine.Option(names = "--json", description = "with --plan: print JSON, schema 1")
    private boolean json;

    @picocli.CommandLine.Option(names = "--lazy", paramLabel = "auto|no", description = "auto: start the job while "
            + "its memory is still being read, where possible; no: read all memory first")
    private String lazy;

    @picocli.CommandLine.Option(names = "--map-path", paramLabel = "OLD=NEW", description = "the job's files below "
            + "OLD are now below NEW: program, libraries, open files; can be repeated, the longest match is used")
    private List<String> moves = List.of();

    @picocli.CommandLine.Option(names = "--map-gpu", paramLabel = "OLD=NEW", description = "what was on the GPU with "
            + "the UUID OLD comes back on NEW, which is of the same kind; can be repeated")
    private List<String> gpus = List.of();

    @picocli.CommandLine.Option(names = "--workdir", paramLabel = "DIR",
            description = "the job's working directory; default: as before")
    private String directory;

    @picocli.CommandLine.Option(names = "--env", paramLabel = "NAME=VALUE", description = "an environment variable "
            + "for programs of the job that read it again; can be repeated")
    private List<String> environment = List.of();

    @Parameters(paramLabel = "DIR[/ID]",
            description = "a checkpoint, or the newest complete one of a directory or of fast=DIR,slow=DIR")
    private String image;

    /** The command as picocli makes it of these words, where that is simple; null: picocli is to do it. */
    static RestartCommand plain(String... words) {
        RestartCommand command = new RestartCommand();
        command.common = new MessageOptions();
        command.debug = new DebugOptions();
        command.checkpoints = new CheckpointOptions();
        command.placement = new PlacementOptions();
        command.nodes = new NodesOptions();
        return PlainWords.read(words, command::set, argument -> command.image = argument) ? command : null;
    }

    private boolean set(String option, String value) {
        switch (option) {
            case "--name" -> name = value;
            case "--device" -> device = value;
            case "--lazy" -> lazy = value;
            case "--workdir" -> directory = value;
            default -> {
                return checkpoints.set(option, value) || placement.set(option, value);
            }
        }
        return true;
    }

    @Override
    public Integer call() throws Exception {
        Settings settings = nodes.over(checkpoints.over(common.settings(debug.traces()))).flag(Option.DEVICE, device)
                .flag(Option.LAZY, lazy)
                .flag(Option.MAP_GPU, gpus.isEmpty() ? null : String.join(",", gpus))
                .flag(Option.ENV, NewVariables.joined(environment)).checked();
        NewVariables.of(settings);
        Optional<SlurmNodes> slurm =
                nodes.silent() && placement.silent() ? InAllocation.forImage(settings, image) : Optional.empty();
        Optional<NodesRequest> several =
                nodes.check(slurm.<Starter>map(_ -> new Starter.Srun()).or(() -> ofMachines(settings)));
        placement.check(several.isPresent());
        if (json && !plan) {
            throw new Failure(ExitCode.USAGE, "--json needs --plan: a restart prints the job's own output");
        }
        FilePatterns.resolve(settings);
        Relocation said = Moves.parse(moves, directory);
        Relocation relocation = several.isPresent() ? said : Relocations.here(said);
        if (checkpoints.tiers() == null) {
            // it goes on where it was
            ImageLocation.tiers(image).ifPresent(tiers -> settings.flag(Option.TIERS, tiers.format()));
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
        Optional<HostLayout> room = slurm.map(nodes -> SpareHosts.aside(settings, nodes.tasks()));
        if (several.isPresent()) {
            placement.setSparesAside(settings);
            SpareHosts.check(settings, List.of());
        }
        Placer place =
                slurm.isPresent() ? (units, ties) -> InAllocation.place("srun", room.get(), units, ties) : placement;
        if (!json) {
            nodes.tellSimulated();
        }
        return several.isPresent() ? several(settings, installation, several.get(), location, place, relocation)
                : alone(settings, installation, location, relocation);
    }

    /** One process's ranks stay one process's, whatever their hosts are called. */
    private Optional<Starter> ofMachines(Settings settings) {
        return placement.named() == null
                || !InAllocation.isOfAgents(settings, ImageLocation.look(image, Keys.user(settings))) ? Optional.empty()
                        : nodes.byName(placement.named());
    }

    private int several(Settings settings, Installation installation, NodesRequest hosts, ImageLocation location,
            Placer place, Relocation relocation) throws Exception {
        if (debug.selection() != null) {
            throw RemoteDebug.refusal(settings, hosts, location, name, place, debug.selection());
        }
        if (plan) {
            return print(RestartPlanning.several(settings, hosts, location, name, place, relocation));
        }
        LeadGuard.enter(settings, installation);
        Optional<LostLead> lost = LostLead.ofThisProcess();
        Optional<ImageLocation> left =
                lost.flatMap(one -> one.checkpoint(settings, RestartSupervisor.directory(settings, location)));
        if (left.isPresent()) { // where files and GPUs are was said of the one that it began with
            settings.flag(Option.MAP_GPU, "");
            return RestartSupervisor.run(settings, left.get(), Relocation.NONE,
                    () -> MultiHostRun.restart(settings, installation, hosts, left.get(), lost.get().name(),
                            lost.get().place(settings, place), Relocation.NONE));
        }
        ImageLocation whole =
                FastTierRecovery.bring(settings, hosts,
                        ImageLocation.tiers(image)
                                .or(() -> Tiers.of(settings).filter(tiers -> tiers.has(location.parent()))),
                        location,
                        ImageLocation.isNamed(image));
        return RestartSupervisor.run(settings, whole, relocation,
                () -> MultiHostRun.restart(settings, installation, hosts, whole, name, place, relocation));
    }

    private int alone(Settings settings, Installation installation, ImageLocation location, Relocation relocation)
            throws Exception {
        HostLayout layout = placement.simulated();
        Debugger debugger = debug.debugger();
        if (plan) {
            return print(RestartPlanning.alone(settings, location, name, layout, relocation));
        }
        if (debugger == null) {
            return RestartSupervisor.run(settings, location, relocation, () -> new SingleHostRun(settings, installation,
                    Restart.start(settings, installation, location, name, layout, relocation, InspectionOptions.NONE)));
        }
        if (settings.count(Option.RESTART_ON_FAILURE) > 0) {
            Messages.info("the job runs in a debugger: it is not restarted when it fails");
        }
        try (Job job = Restart.start(settings, installation, location, name, layout, relocation,
                new InspectionOptions(debugger, null))) {
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
