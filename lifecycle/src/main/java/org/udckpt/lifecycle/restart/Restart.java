package org.udckpt.lifecycle.restart;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.udckpt.address.AddressMap;
import org.udckpt.address.RankSpan;
import org.udckpt.agent.Job;
import org.udckpt.agent.JobContext;
import org.udckpt.agent.JobFacts;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.LaunchMode;
import org.udckpt.launch.Shepherd;
import org.udckpt.lifecycle.job.JobService;
import org.udckpt.lifecycle.job.JobStorage;
import org.udckpt.process.kinds.replaced.AgentConnection;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.restore.Relocation;
import org.udckpt.process.restore.Restored;
import org.udckpt.process.restore.Restorer;
import org.udckpt.process.restore.lazy.Support;
import org.udckpt.store.CheckpointHold;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.ImageProcesses;
import org.udckpt.store.JobState;
import org.udckpt.store.Keys;
import org.udckpt.store.NodeState;
import org.udckpt.store.RankRow;
import org.udckpt.store.StateTables;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.NewVariables;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.ud.LibraryConnection;

/** Starts a job from a checkpoint: the next of its incarnations. */
public final class Restart {
    private static final Duration LIBRARY_TIMEOUT = Duration.ofSeconds(20);
    private static final long ENDING_NS = 1_000_000_000;
    private static final Duration FOR_EVER = Duration.ofDays(3650);

    private final Settings settings;
    private final Installation installation;
    private final CheckpointReader reader;
    private final NodeReader node;
    private final CompletableFuture<String> refusal;
    private final CompletableFuture<RestartContents> contents;
    private final RestartPhases phases;
    private final InspectionOptions inspection;

    private Restart(Settings settings, Installation installation, NodeReader node, Relocation relocation,
            CompletableFuture<String> refusal, RestartPhases phases, InspectionOptions inspection) {
        this.inspection = inspection;
        this.refusal = refusal;
        this.phases = phases;
        this.settings = settings;
        this.installation = installation;
        this.reader = node.checkpoint();
        this.node = node;
        this.contents = RestartContents.read(node, relocation, settings);
    }

    /**
     * Returns when all ranks run again.
     *
     * @param name null: as before
     * @param layout null: as before
     * @param relocation where its files are now
     * @param inspection {@link InspectionOptions#NONE}, or who has it for looking at it; a debugger ends with the job,
     *     and must be waited for before the job is closed
     */
    public static Job start(Settings settings, Installation installation, ImageLocation location, String name,
            HostLayout layout, Relocation relocation, InspectionOptions inspection) {
        return start(settings, installation, location, name, layout, relocation, inspection,
                RestartPhases.sinceLaunch());
    }

    public static Job start(Settings settings, Installation installation, ImageLocation location, String name,
            HostLayout layout, Relocation relocation, InspectionOptions inspection,
            RestartPhases phases) {
        String what = "restart from " + location.entry().directory();
        // also links the system calls, for everything after
        CompletableFuture<String> refusal = BackgroundTask.begin(Support::refusal);
        try {
            CheckpointReader reader = location.open(Keys.user(settings));
            Restart restart =
                    new Restart(settings, installation, onlyNode(reader), relocation, refusal, phases, inspection);
            try {
                checkMachine(reader);
                return restart.run(location, name, layout); // the job needs the reader until all memory is in
            } catch (IOException | RuntimeException e) {
                restart.awaitContents();
                reader.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            throw Failure.of(what, e);
        }
    }

    /** What one process can restore; closes what has more. */
    public static NodeReader onlyNode(CheckpointReader reader) throws IOException {
        List<NodeReader> nodes = reader.nodes();
        if (nodes.size() != 1) {
            reader.close();
            throw new Failure(ExitCode.UNSUPPORTED, "the image is of a job on " + nodes.size() + " hosts ("
                    + String.join(", ", nodes.stream().map(NodeReader::host).toList())
                    + "), which cannot be restarted on one host; 'inspect', 'diff', 'verify' and 'export-core' read "
                    + "it");
        }
        return nodes.getFirst();
    }

    public static void checkMachine(CheckpointReader reader) {
        String architecture = reader.manifest().architecture();
        if (!architecture.equals("x86_64")) {
            throw new Failure(ExitCode.UNSUPPORTED, "the image " + reader.directory() + " is of architecture "
                    + architecture + ", this machine is x86_64: restart it on a machine of that architecture");
        }
    }

    private Job run(ImageLocation location, String name, HostLayout wanted) throws IOException {
        JobState state = StateTables.readJob(reader);
        NodeState own = StateTables.readNode(node, state);
        HostLayout layout = layout(state, wanted);
        JobFacts facts = facts(name, imageDirectory(location), reader, state, layout, own);
        Job job = null;
        try {
            job = makeJob(facts, JobContext.alone(facts.name()), own);
            // also when all memory is in: it may fail before it has one of its own
            job.owns(CheckpointHold.on(location.entry().directory()));
            RestartContents all = BackgroundTask.join(contents);
            phases.reached("tables");
            ImageProcesses processes = processes(all);
            if (inspection.debugger() != null) {
                job.owns(inspection.debugger()).choose(processes);
                job.terminal(inspection.debugger()::hasTerminal);
            }
            putBackAndRestore(job, all, processes);
            Messages.info("the ranks run: " + phases);
            JobService.open(job, installation.library());
            return job;
        } catch (IOException | InterruptedException | RuntimeException e) {
            awaitContents();
            if (job != null) {
                job.close();
            }
            throw Failure.of("restart from " + location.entry().directory(), e);
        }
    }

    /**
     * Of the next incarnation, by one agent.
     *
     * @throws Failure 64 where one agent cannot have it so
     */
    public static JobFacts facts(String name, Path directory, CheckpointReader reader, JobState state,
            HostLayout layout, NodeState own) {
        return new JobFacts(name == null ? state.row().name() : name, directory,
                LaunchMode.ofLabels(reader.manifest().labels()), layout,
                RankSpan.all(layout.ranks()), state.row().words(), state.row().generation() + 1, own.namedRuntime());
    }

    /** @param wanted null: as before */
    public static HostLayout layout(JobState state, HostLayout wanted) {
        HostLayout layout = wanted == null ? state.layout() : wanted;
        if (layout.ranks() != state.layout().ranks()) {
            throw new Failure(ExitCode.USAGE, "--hosts " + layout.format() + " has places for " + layout.ranks()
                    + " ranks, but the image has " + state.layout().ranks());
        }
        return layout;
    }

    /** The job without its ranks. */
    private Job makeJob(JobFacts facts, JobContext around, NodeState own) throws IOException {
        AddressMap addresses = own.addresses().nextIncarnation();
        Job job = new Job(settings, facts, around, addresses, own.pmi());
        try {
            job.owns(reader);
            job.attach(
                    Shepherd.startRestoring(installation.shepherd(), job.runtime().shepherdSocket(),
                            facts.namedRuntime(), inspection::streams, job.shepherdListener()),
                    installation.agentLibrary());
            phases.reached("namespaces");
            return job;
        } catch (IOException | RuntimeException e) {
            job.close();
            throw e;
        }
    }

    private ImageProcesses processes(RestartContents all) {
        ImageProcesses processes =
                new ImageProcesses(reader.directory().getFileName().toString(), all.image().processes(), all.ranks());
        Restorer.checkRights(all.image(), processes::name);
        return processes;
    }

    /**
     * Begins the restart of one unit of a job of several nodes: its namespaces are there, and its files are put back.
     *
     * @param node      of the image, which is the unit's; its checkpoint is closed with the job
     * @param facts     without the runtime directory that the processes name, which the image knows
     * @param around    the unit's
     * @param here      where its files are on this host
     * @param elsewhere paths of files, where they are on this host, that another unit puts back
     * @param ready     is given the job before its first rank runs
     */
    public static UnitRestart unit(Settings settings, Installation installation, NodeReader node, JobFacts facts,
            JobContext around, Relocation here, Set<String> elsewhere,
            Consumer<Job> ready) throws IOException {
        CompletableFuture<String> refusal = BackgroundTask.begin(Support::refusal);
        Restart restart = new Restart(settings, installation, node, here, refusal, RestartPhases.sinceNow(),
                InspectionOptions.NONE);
        Job job = null;
        try {
            checkMachine(node.checkpoint());
            NodeState own = StateTables.readNode(node, StateTables.readJob(node.checkpoint()));
            job = restart.makeJob(facts.named(own.namedRuntime()), around, own);
            job.expectPeers(own.peers());
            ready.accept(job);
            RestartContents all = BackgroundTask.join(restart.contents);
            restart.phases.reached("tables");
            RestartFiles files = RestartFiles.putBackOfUnit(job, all.image(), all.memory(),
                    node.checkpoint().directory(), elsewhere);
            Job made = job;
            return new UnitRestart(job, files, () -> restart.revive(made, all, restart.processes(all), files.stats()),
                    restart.phases);
        } catch (IOException | RuntimeException e) {
            restart.awaitContents();
            if (job != null) {
                job.close();
            } else {
                node.checkpoint().close();
            }
            throw e;
        }
    }

    /** Waits for lazy reads: the reader can be closed only after them. */
    private void awaitContents() {
        contents.handle((_, _) -> null).join();
    }

    private Path imageDirectory(ImageLocation location) {
        if (inspection.trial() != null) {
            return inspection.trial().resolve("checkpoints");
        }
        return JobStorage.directory(settings, location.parent());
    }

    private void putBackAndRestore(Job job, RestartContents all, ImageProcesses processes)
            throws IOException, InterruptedException {
        if (inspection.trial() != null) {
            restore(job, all, processes, Map.of()); // the files stay as they are; it gets changes of its own
            return;
        }
        // before files are touched; what is odd is said when it is looked at again
        Restorer.checkEnvironment(all.image(), all.memory(), processes::name, _ -> {});
        try (RestartFiles files = RestartFiles.putBack(job, all.image(), all.memory(), reader.directory())) {
            phases.reached("files");
            restoreOrEnd(job, all, processes, files.stats());
            files.stay();
        }
    }

    /** Processes that run already write to the files: none is left when these are put as they were. */
    private void restoreOrEnd(Job job, RestartContents all, ImageProcesses processes,
            Map<String, org.udckpt.linux.Files.Stat> putBack) throws IOException, InterruptedException {
        try {
            restore(job, all, processes, putBack);
        } catch (IOException | InterruptedException | RuntimeException e) {
            job.close();
            throw e;
        }
    }

    private void restore(Job job, RestartContents all, ImageProcesses processes,
            Map<String, org.udckpt.linux.Files.Stat> putBack) throws IOException, InterruptedException {
        VerbsReconnect reconnect = revive(job, all, processes, putBack);
        try {
            reconnect.all();
            if (!reconnect.connections().isEmpty()) {
                phases.reached("verbs");
            }
        } catch (RuntimeException e) {
            if (!inspection.patient() || !job.ranks().ending()) {
                // who ends a rank in the debugger wants no more than that
                throw e;
            }
        }
        reconnect.follow();
    }

    /**
     * The processes are there, and those that had a verbs device wait behind their gates.
     *
     * @param putBack what is at the paths of its files
     */
    private VerbsReconnect revive(Job job, RestartContents all, ImageProcesses processes,
            Map<String, org.udckpt.linux.Files.Stat> putBack) throws IOException, InterruptedException {
        JobImage image = all.image();
        Set<Integer> libraries = withLibrary(image);
        job.expect(RankRow.numbered(all.ranks()));
        boolean pinned = !libraries.isEmpty() && !job.hosts().soft() || all.cuda().isNeeded();
        RestoredNode target = new RestoredNode(job, processes, phases, inspection,
                root -> RestartFiles.putBackBelow(root, job, image, all.memory()), putBack);
        Restored restored = Restorer.restore(image, all.memory(), target, lazyFrom(pinned));
        LazyMemoryMonitor arrival = LazyMemoryMonitor.begun(job, reader, restored.filling(), phases);
        if (inspection.debugger() != null) {
            inspection.debugger().keepTogether(restored.hostPids(), job.shepherd()::standing);
        }
        Map<Integer, Integer> hostPids = restored.hostPids();
        for (ProcessState process : image.processes()) {
            if (process.parentPid() == 0) {
                job.ranks().started(process.rank(), hostPids.get(process.pid()));
            }
        }
        if (inspection.patient()) {
            all.cuda().resumeLater(image, hostPids);
        } else if (all.cuda().isNeeded()) {
            all.cuda().resume(image, hostPids);
            phases.reached("CUDA");
        }
        LivingProcesses living = new LivingProcesses(hostPids);
        boolean there = !libraries.isEmpty() && awaitLibraries(job, libraries, living, arrival);
        long downtime = Math.max(0, System.currentTimeMillis() * 1_000_000L - image.clocks().realtimeNs());
        return new VerbsReconnect(job, there ? restored(job) : List.of(), downtime,
                inspection.patient() ? FOR_EVER : settings.duration(Option.REBUILD_TIMEOUT), arrival, living);
    }

    /**
     * What a debugger touches must be there, and what is written before the start: the kernel does not let them wait
     * for memory (docs/internals/restore.md).
     */
    private long lazyFrom(boolean pinned) {
        return inspection.patient() || !NewVariables.of(settings).isEmpty() ? Long.MAX_VALUE
                : LazyMemoryMonitor.least(settings, pinned, refusal.join());
    }

    /** Not those that opened their first device a moment ago, in this incarnation. */
    private static List<LibraryConnection> restored(Job job) {
        return job.control().connections().stream()
                .filter(connection -> connection.generation() != job.facts().generation()).toList();
    }

    /** Numbers of the processes that had the library at the checkpoint. */
    private static Set<Integer> withLibrary(JobImage image) {
        Set<Long> connections = image.objects().stream().filter(AgentConnection.class::isInstance).map(KernelObject::id)
                .collect(Collectors.toSet());
        return image.descriptors().stream().filter(one -> connections.contains(one.object())).map(Descriptor::pid)
                .collect(Collectors.toSet());
    }

    /**
     * Processes that have neither answered nor ended. A process runs before its verbs objects are rebuilt, and may have
     * nothing left to do but to end.
     */
    private static Set<Integer> awaited(Job job, Set<Integer> libraries, LivingProcesses living) {
        Set<Integer> awaited = new TreeSet<>(libraries);
        restored(job).forEach(connection -> awaited.remove(connection.pid()));
        awaited.removeIf(living::hasEnded);
        return awaited;
    }

    /** False: the job has ended, in the debugger. */
    private boolean awaitLibraries(Job job, Set<Integer> libraries, LivingProcesses living, LazyMemoryMonitor arrival)
            throws InterruptedException {
        long deadline = System.nanoTime() + LIBRARY_TIMEOUT.toNanos();
        while (!awaited(job, libraries, living).isEmpty()) {
            arrival.check();
            if (inspection.patient() && (job.ranks().ending() || !job.ranks().allAlive())) {
                return false;
            }
            if (!inspection.patient() && job.ranks().ending()) {
                // what ended them may be told a moment later, by the one who reads the image
                deadline = Math.min(deadline, System.nanoTime() + ENDING_NS);
            }
            if (!inspection.patient() && System.nanoTime() > deadline) {
                throw new Failure(ExitCode.TIMEOUT,
                        "only " + restored(job) + " of " + libraries.size() + " restored processes answered within "
                                + LIBRARY_TIMEOUT.toSeconds() + " s");
            }
            Thread.sleep(1);
        }
        return true;
    }
}
