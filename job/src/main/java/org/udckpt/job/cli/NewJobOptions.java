package org.udckpt.job.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.udckpt.job.config.FilePatterns;
import org.udckpt.job.config.Installation;
import org.udckpt.job.config.Interval;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.launch.DeviceChoice;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.launch.Launch;
import org.udckpt.job.launch.ProgramCheck;
import org.udckpt.job.launch.RawText;
import org.udckpt.job.life.FirstLife;
import org.udckpt.job.metrics.MetricsOutputs;
import org.udckpt.job.nodes.NodesRequest;
import org.udckpt.job.nodes.Spares;
import org.udckpt.job.nodes.Starter;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.ImageOptions;
import org.udckpt.job.store.ImageRoom;
import org.udckpt.job.store.Keys;
import org.udckpt.job.store.Tiers;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** What {@code run} and {@code batch} are told of the job that they start. */
final class NewJobOptions {
    @picocli.CommandLine.Option(names = {"-n", "-np"}, paramLabel = "N", description = "number of ranks, which udckpt starts as mpiexec does; without it the program is started once, as from a shell, and may be an mpirun")
    private Integer ranks;

    @picocli.CommandLine.Option(names = "--name", description = "the job's name for other udckpt commands; default: PROGRAM-PID, with batch slurm-ID")
    private String name;

    @picocli.CommandLine.Option(names = "--dir", description = "where its checkpoints go; default: ./NAME.ckpt")
    private String directory;

    @Mixin
    private CheckpointOptions checkpoints;

    @picocli.CommandLine.Option(names = "--device", description = "soft, auto, or names of verbs devices (a,b), which the hosts take in turn")
    private String device;

    @picocli.CommandLine.Option(names = "--hosts", paramLabel = "a:2,b:2", description = "hosts and their ranks: machines, or names that no machine has, which are simulated on this one")
    private String hosts;

    @picocli.CommandLine.Option(names = "--mpi", paramLabel = "pmi1|pmix", description = "how ranks find each other: pmi1 (MPICH and relatives; the default) or pmix (Open MPI)")
    private String mpi;

    @picocli.CommandLine.Option(names = "--ranks-per-unit", paramLabel = "N",
            description = "with --starter: at most so many ranks of a host share memory, and stay together in restarts; default: all of a host")
    private Integer ranksPerUnit;

    @Mixin
    private NodesOptions nodes;

    @Parameters(arity = "1..*", paramLabel = "PROGRAM [ARG...]", description = "the program, after --")
    private List<String> command;

    boolean named() {
        return name != null;
    }

    /** Whether the user says where its ranks are. */
    boolean hosted() {
        return hosts != null;
    }

    boolean placed() {
        return directory != null;
    }

    /**
     * Reads and checks everything, so that what is wrong is said before anything is started.
     *
     * @param common the files' and the environment's settings
     * @param otherName the job's name when none was given; null: a fresh one
     */
    NewJob check(Settings common, String otherName) {
        if (directory != null) {
            ImageLocation.directory(directory); // not an empty one
            if (checkpoints.tiers() != null) {
                throw new Failure(ExitCode.USAGE, "--dir and --tiers both say where checkpoints go: give one of them");
            }
        }
        Settings settings = nodes.over(checkpoints.over(common)).flag(Option.DIR, directory).flag(Option.DEVICE, device).checked();
        if (directory != null) {
            settings.flag(Option.TIERS, ""); // the site's
        }
        Optional<HostLayout> allocated = nodes.silent() && hosts == null && ranks != null ? InAllocation.forRanks(settings, ranks) : Optional.empty();
        Optional<NodesRequest> several = nodes.check(allocated.<Starter>map(_ -> new Starter.Srun()).or(() -> nodes.byName(hosts == null ? null : HostLayout.parse(hosts)))).map(this::divided);
        if (ranksPerUnit != null && (several.isEmpty() || ranksPerUnit < 1)) {
            throw new Failure(ExitCode.USAGE, "--ranks-per-unit " + ranksPerUnit + (several.isEmpty() ? " is of jobs on several hosts: give --starter too" : ": give 1 or more"));
        }
        if (several.isPresent() && hosts == null && allocated.isEmpty()) {
            throw new Failure(ExitCode.USAGE, "--starter: give --hosts too, the hosts and how many ranks each has: --hosts n1:32,n2:32");
        }
        Launch launch = launch();
        HostLayout layout = several.isPresent() ? HostLayout.ofAgents(allocated.map(HostLayout::format).orElseGet(() -> Spares.aside(settings, hosts)), ranks) : HostLayout.parse(hosts, ranks);
        if (several.isPresent()) {
            Spares.check(settings, layout.hosts().stream().map(HostLayout.Host::name).toList());
        }
        Map<String, String> environment = RawText.environment();
        Path program = ProgramCheck.resolve(command.getFirst(), environment.getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin"), launch);
        FilePatterns.resolve(settings);
        if (several.isPresent() && !(several.get().starter() instanceof Starter.Local)) {
            DeviceChoice.read(settings); // what is on other hosts they know
        } else {
            DeviceChoice.resolve(settings);
        }
        ImageOptions.check(settings);
        MetricsOutputs.check(settings);
        String jobName = name != null ? name : otherName != null ? otherName : JobNames.fresh(program);
        Path images = FirstLife.imageDirectory(settings, jobName);
        Tiers.of(settings).ifPresent(tiers -> ImageRoom.check(settings, tiers.slow().path(), true));
        ImageRoom.check(settings, images, !settings.text(Option.TIERS).isEmpty() || !settings.text(Option.DIR).isEmpty() || !(Interval.of(settings) instanceof Interval.Never));
        Installation installation = Installation.find(settings);
        Keys.writer(settings); // made now, if it never was: a job must not run for days before it proves to be impossible
        if (launch == Launch.PMIX) {
            installation.pmixLauncher();
        }
        nodes.tellSimulated();
        return new NewJob(settings, installation, jobName, images, launch, layout, command, environment, several, allocated.isPresent());
    }

    private NodesRequest divided(NodesRequest whole) {
        return ranksPerUnit == null ? whole : new NodesRequest(whole.starter(), whole.fanOut(), ranksPerUnit);
    }

    private Launch launch() {
        if (mpi != null && !mpi.equals("pmi1") && !mpi.equals("pmix")) {
            throw new Failure(ExitCode.USAGE, "--mpi " + mpi + ": give pmi1 or pmix");
        }
        if (mpi != null && ranks == null && hosts == null) {
            throw new Failure(ExitCode.USAGE, "--mpi " + mpi + " is of ranks that udckpt starts: give -n or --hosts too");
        }
        return Launch.of(ranks, hosts, "pmix".equals(mpi));
    }
}
