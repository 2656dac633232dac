package org.udckpt.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.udckpt.cluster.NodesRequest;
import org.udckpt.cluster.SpareHosts;
import org.udckpt.cluster.Starter;
import org.udckpt.launch.DeviceChoice;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.LaunchMode;
import org.udckpt.launch.OwnCommandLine;
import org.udckpt.launch.ProgramCheck;
import org.udckpt.lifecycle.job.JobStart;
import org.udckpt.lifecycle.metrics.MetricsOutputs;
import org.udckpt.store.ImageDirectoryCheck;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.ImageOptions;
import org.udckpt.store.Keys;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.FilePatterns;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Interval;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** What {@code run} and {@code batch} are told of the job that they start. */
final class NewJobOptions {
    @picocli.CommandLine.Option(names = {"-n", "-np"}, paramLabel = "N", description = "number of ranks, which "
            + "udckpt starts as mpiexec does; default: start the program once, as a shell does (it may be an mpirun)")
    private Integer ranks;

    @picocli.CommandLine.Option(names = "--name",
            description = "the job's name for other udckpt commands; default: PROGRAM-PID, with batch slurm-ID")
    private String name;

    @picocli.CommandLine.Option(names = "--dir", description = "the job's checkpoint directory; default: ./NAME.ckpt")
    private String directory;

    @Mixin
    private CheckpointOptions checkpoints;

    @picocli.CommandLine.Option(names = "--device", description = "verbs device: soft, auto, or device names (a,b), "
            + "which the hosts use in turn")
    private String device;

    @picocli.CommandLine.Option(names = "--hosts", paramLabel = "a:2,b:2", description = "hosts and their ranks; "
            + "names that are not machine names are hosts simulated on this machine")
    private String hosts;

    @picocli.CommandLine.Option(names = "--mpi", paramLabel = "pmi1|pmix",
            description = "how ranks find each other: pmi1 (MPICH and relatives; the default) or pmix (Open MPI)")
    private String mpi;

    @picocli.CommandLine.Option(names = "--ranks-per-unit", paramLabel = "N",
            description = "with --starter: split each host's ranks into units of at most N ranks; only ranks of a "
                    + "unit share memory, and a unit stays on one host; default: one unit for each host")
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
                throw new Failure(ExitCode.USAGE, "--dir and --tiers both name the checkpoint directory: give one of "
                        + "them");
            }
        }
        Settings settings =
                nodes.over(checkpoints.over(common)).flag(Option.DIR, directory).flag(Option.DEVICE, device).checked();
        if (directory != null) {
            settings.flag(Option.TIERS, ""); // the site's
        }
        Optional<HostLayout> allocated = nodes.silent() && hosts == null && ranks != null
                ? InAllocation.forRanks(settings, ranks) : Optional.empty();
        Optional<
                NodesRequest> several = nodes
                        .check(allocated.<Starter>map(_ -> new Starter.Srun())
                                .or(() -> nodes.byName(hosts == null ? null : HostLayout.parse(hosts))))
                        .map(this::divided);
        if (ranksPerUnit != null && (several.isEmpty() || ranksPerUnit < 1)) {
            throw new Failure(ExitCode.USAGE, "--ranks-per-unit " + ranksPerUnit + (several.isEmpty()
                    ? " applies only to jobs on several hosts: give --starter too" : ": give 1 or more"));
        }
        if (several.isPresent() && hosts == null && allocated.isEmpty()) {
            throw new Failure(ExitCode.USAGE, "--starter needs --hosts, the hosts with their numbers of ranks: "
                    + "--hosts n1:32,n2:32");
        }
        LaunchMode launch = launch();
        HostLayout layout = several.isPresent()
                ? HostLayout.ofAgents(
                        allocated.map(HostLayout::format).orElseGet(() -> SpareHosts.aside(settings, hosts)), ranks)
                : HostLayout.parse(hosts, ranks);
        if (several.isPresent()) {
            SpareHosts.check(settings, layout.hosts().stream().map(HostLayout.Host::name).toList());
        }
        Map<String, String> environment = OwnCommandLine.environment();
        Path program = ProgramCheck.resolve(command.getFirst(),
                environment.getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin"), launch);
        FilePatterns.resolve(settings);
        if (several.isPresent() && !(several.get().starter() instanceof Starter.Local)) {
            DeviceChoice.read(settings); // what is on other hosts they know
        } else {
            DeviceChoice.resolve(settings);
        }
        ImageOptions.check(settings);
        MetricsOutputs.check(settings);
        String jobName = name != null ? name : otherName != null ? otherName : DefaultJobName.fresh(program);
        Path images = JobStart.imageDirectory(settings, jobName);
        Tiers.of(settings).ifPresent(tiers -> ImageDirectoryCheck.check(settings, tiers.slow().path(), true));
        ImageDirectoryCheck.check(settings, images, !settings.text(Option.TIERS).isEmpty()
                || !settings.text(Option.DIR).isEmpty() || !(Interval.of(settings) instanceof Interval.Never));
        Installation installation = Installation.find(settings);
        // made now, if it never was: a job must not run for days before it proves to be impossible
        Keys.writer(settings);
        if (launch == LaunchMode.PMIX) {
            installation.pmixLauncher();
        }
        nodes.tellSimulated();
        return new NewJob(settings, installation, jobName, images, launch, layout, command, environment, several,
                allocated.isPresent());
    }

    private NodesRequest divided(NodesRequest whole) {
        return ranksPerUnit == null ? whole : new NodesRequest(whole.starter(), whole.fanOut(), ranksPerUnit);
    }

    private LaunchMode launch() {
        if (mpi != null && !mpi.equals("pmi1") && !mpi.equals("pmix")) {
            throw new Failure(ExitCode.USAGE, "--mpi " + mpi + ": give pmi1 or pmix");
        }
        if (mpi != null && ranks == null && hosts == null) {
            throw new Failure(ExitCode.USAGE, "--mpi " + mpi + " applies only to ranks that udckpt starts: give -n "
                    + "or --hosts too");
        }
        return LaunchMode.of(ranks, hosts, "pmix".equals(mpi));
    }
}
