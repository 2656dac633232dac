package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.udckpt.linux.Proc;
import org.udckpt.process.files.FileTorn;
import org.udckpt.process.files.FilesRefused;
import org.udckpt.process.files.Prefixes;
import org.udckpt.process.identity.KnownFiles;
import org.udckpt.process.identity.Libraries;
import org.udckpt.process.kinds.base.IpcGroup;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Clocks;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.GuardPages;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.MountViews;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.Privileges;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TerminalObject;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.Zombie;
import org.udckpt.process.trace.TracerThread;
import org.udckpt.process.trace.VectorLayouts;

/**
 * A consistent copy of all ranks of a node: all are stopped, all are read, all are forked, and only then do they go on.
 * {@link #take} returns when they do; {@link #image} and {@link #sources} work from the snapshots. Close it to end
 * those.
 */
public final class Capture implements AutoCloseable {
    /** Where a pid namespace begins: a restart has one without being asked. */
    private static final int INIT = 1;

    private final List<RankCapture> ranks;
    private final List<Descriptor> descriptors;
    private final List<KernelObject> objects;
    private final List<TcpSocket> tcpSockets;
    private final List<TerminalObject> terminals;
    private final List<InotifyWatch> watches;
    private final List<JobName> names;
    private final List<PacketSocket> packetSockets;
    private final List<FileNotice> notices;
    private final List<ContentCopy> copies;
    private final CapturedFiles files;
    private final List<String> closedConnections;
    private final Map<TracedProcess, List<Region>> regions;
    private final Clocks clocks;
    private final List<Zombie> zombies;
    private final int parent;
    private final List<Attribute> owners;
    private final List<PhaseTimes> times = new ArrayList<>();
    private final long objectsNs;
    private volatile boolean standing = true;
    /** All is closed. A descriptor that is closed twice could be another one's by then. Guarded by this. */
    private boolean closed;
    private JobImage image;
    private List<MemorySource> sources;

    private Capture(List<RankCapture> ranks, StoppedJob stop, CapturedFiles files) {
        this.ranks = ranks;
        this.descriptors = stop.reader.descriptors();
        this.objects = stop.table.objects();
        this.tcpSockets = stop.table.tcpSockets();
        this.terminals = stop.table.terminals();
        this.watches = stop.table.watches();
        this.names = stop.table.names();
        this.packetSockets = stop.table.packetSockets();
        this.notices = stop.table.notices();
        this.copies = stop.memory.copies();
        this.files = files;
        this.closedConnections = stop.table.outside().closedConnections();
        this.regions = stop.regions;
        this.clocks = stop.clocks;
        this.zombies = stop.zombies;
        this.parent = stop.parent;
        this.owners = stop.table.owners();
        this.objectsNs = stop.objectsNs;
    }

    /**
     * Stops, copies and resumes the ranks. When it throws, they run as if nothing had been asked.
     *
     * @throws CaptureRefused the job holds something that cannot be captured
     * @throws FilesRefused its files cannot be
     * @throws CaptureFailed try again: a process was killed meanwhile, or did not stop
     */
    public static Capture take(CaptureRequest request) {
        Capture capture = standing(request);
        capture.resume();
        return capture;
    }

    /** As {@link #standing(CaptureRequest, Prefixes)}, where nobody has looked at growing files. */
    public static Capture standing(CaptureRequest request) {
        return standing(request, GrowingFiles.read(request));
    }

    /**
     * As {@link #take}, but the ranks stand still until {@link #resume}, or until it is closed: where the job has
     * others elsewhere, none may do anything that another's copies show before all copies are made.
     *
     * @param growing what {@link GrowingFiles} has found of the same files, when nobody waited yet
     */
    public static Capture standing(CaptureRequest request, Prefixes growing) {
        List<RankCapture> ranks = new ArrayList<>();
        StoppedJob stop = new StoppedJob(request, growing);
        CapturedFiles files = new CapturedFiles(stop.files, request.files().libraries(), ranks);
        try {
            for (CaptureRequest.Root root : request.roots()) {
                ranks.add(new RankCapture(root, request.calls(), request.tracking()));
            }
            all(ranks, RankCapture::stop);
            adoptOrphans(ranks);
            request.calls().keep(ranks.stream().flatMap(RankCapture::threads).collect(Collectors.toSet()));
            // both only look: where there is a second processor, at the same time
            all(ranks, rank -> rank.read(stop.mounts), () -> stop.look(ranks));
            List<TracedProcess> processes = processes(ranks);
            if (ranks.size() > 1 && processes.stream().anyMatch(process -> process.orphan)) {
                // it went to the first rank, whoever made it
                SharingCheck.refuseShared(processes);
            }
            TreeCheck.refuse(ranks);
            stop.mounts.others().pids().check();
            all(ranks, rank -> rank.ask(stop.memory, stop.mounts));
            stop.lookAgain(ranks);
            askKinds(ranks, stop, processes);
            // looks at the kernel's objects from outside, while the tracers fork
            all(ranks, RankCapture::fork, () -> stop.readObjects(ranks));
            PeerCredentialReader peers = stop.reader.peers();
            if (peers.open()) {
                all(ranks, rank -> rank.askPeers(peers));
            }
            return new Capture(ranks, stop, files);
        } catch (RuntimeException failure) {
            RuntimeException explained = CaptureErrors.explain(ranks, failure);
            abandon(ranks, stop.memory.copies(), files, explained);
            throw explained;
        } catch (Error failure) {
            abandon(ranks, stop.memory.copies(), files, failure);
            throw failure;
        } finally {
            stop.reader.inFlight().close();
            stop.mounts.close();
        }
    }

    /** The ranks of {@link #standing} run again. When it throws, they run, and nothing is left of the capture. */
    public void resume() {
        standing = false;
        try {
            all(ranks, RankCapture::resume);
            for (RankCapture rank : ranks) {
                times.add(rank.times(objectsNs));
            }
        } catch (RuntimeException failure) {
            RuntimeException explained = CaptureErrors.explain(ranks, failure);
            synchronized (this) {
                closed = true;
                abandon(ranks, copies, files, explained);
            }
            throw explained;
        }
    }

    /**
     * The ranks of {@link #standing} end where they stand, without another instruction: what they hold is in a durable
     * image. Their ends are seen when this is closed, for until then they are traced.
     */
    public void end() {
        standing = false;
        for (RankCapture rank : ranks) {
            rank.end();
        }
    }

    /** Daemons go with the first rank. All that is the job's stands still when there is no new one. */
    private static void adoptOrphans(List<RankCapture> ranks) {
        RankCapture first = ranks.getFirst();
        Set<Integer> roots = ranks.stream().map(rank -> rank.root.pid()).collect(Collectors.toSet());
        Set<Integer> known = new HashSet<>();
        for (List<Integer> orphans; known.addAll(orphans = SharingCheck.orphans(first.root.pid(), roots));) {
            List<Integer> found = orphans;
            all(List.of(first), rank -> rank.adopt(found));
        }
    }

    /** One phase on all ranks in parallel; waits for all, also when one fails. */
    private static void all(List<RankCapture> ranks, Function<RankCapture, CompletableFuture<Long>> phase) {
        all(ranks, phase, () -> {});
    }

    /** @param beside what the calling thread does meanwhile */
    private static void all(List<RankCapture> ranks, Function<RankCapture, CompletableFuture<Long>> phase,
            Runnable beside) {
        List<CompletableFuture<Long>> running = new ArrayList<>();
        for (RankCapture rank : ranks) {
            running.add(phase.apply(rank));
        }
        List<RuntimeException> failures = new ArrayList<>();
        List<RuntimeException> besides = new ArrayList<>();
        attempt(beside, besides);
        for (CompletableFuture<Long> one : running) {
            attempt(() -> TracerThread.join(one), failures);
        }
        failures.addAll(besides); // what a process is says more than what one of its descriptors is
        if (!failures.isEmpty()) {
            RuntimeException first =
                    failures.stream().filter(CaptureErrors::isRefusal).findFirst().orElse(failures.getFirst());
            failures.stream().filter(other -> other != first).forEach(first::addSuppressed);
            throw first;
        }
    }

    /** One after the other: what they write to is the whole job's. */
    private static void askKinds(List<RankCapture> ranks, StoppedJob stop, List<TracedProcess> processes) {
        List<IpcGroup> groups = stop.mounts.others().ipc().groups(stop.table, processes);
        for (RankCapture rank : ranks) {
            boolean first = rank == ranks.getFirst();
            if (first || groups.stream().anyMatch(rank::asks)) {
                all(List.of(rank), one -> one.ask(stop.reader, processes, first, groups));
            }
        }
    }

    private static void attempt(Runnable task, List<RuntimeException> failures) {
        try {
            task.run();
        } catch (RuntimeException failure) {
            failures.add(failure);
        }
    }

    private static void abandon(List<RankCapture> ranks, List<ContentCopy> copies, CapturedFiles files,
            Throwable cause) {
        for (RankCapture rank : ranks) {
            try {
                rank.abandon();
            } catch (RuntimeException failure) {
                cause.addSuppressed(failure);
            }
        }
        copies.forEach(ContentCopy::close);
        files.close();
    }

    /**
     * Connections to processes outside of the job that the image holds as closed, each with its process and descriptor.
     */
    public List<String> closedConnections() {
        return closedConnections;
    }

    /** What the user should know of this capture; the image is good. */
    public List<String> notes() {
        return StatusLines.UNKNOWN.isEmpty() ? List.of() : List.of("this kernel has attributes in /proc/PID/status "
                + "that this version of udckpt does not know; a restart would lose them if the "
                + "job had set them: " + String.join(", ", StatusLines.UNKNOWN));
    }

    /** Times of all ranks; for ranks that still stand, until their copies were made. */
    public List<PhaseTimes> times() {
        return times.isEmpty() ? ranks.stream().map(rank -> rank.times(objectsNs)).toList() : times;
    }

    /** Pids of the snapshots, as the agent numbers them. */
    public int[] snapshotPids() {
        return processes(ranks).stream().mapToInt(process -> process.snapshot.pid()).toArray();
    }

    /** Those that the shepherd is to expect, since they are its children. */
    public int[] shepherdsPids() {
        return processes(ranks).stream().map(process -> process.snapshot).filter(Snapshot::shepherds)
                .mapToInt(Snapshot::pid).toArray();
    }

    private static List<TracedProcess> processes(List<RankCapture> ranks) {
        return ranks.stream().flatMap(rank -> rank.processes().stream()).toList();
    }

    /** All records, put together by the first call; the job runs meanwhile. */
    public JobImage image() {
        image = image == null ? makeImage() : image;
        return image;
    }

    private JobImage makeImage() {
        List<ProcessState> processes = new ArrayList<>();
        List<ThreadState> threads = new ArrayList<>();
        List<Region> allRegions = new ArrayList<>();
        List<PosixTimer> timers = new ArrayList<>();
        List<GuardPages> guards = new ArrayList<>();
        List<Privileges> privileges = new ArrayList<>();
        List<Attribute> attributes = new ArrayList<>();
        for (RankCapture rank : ranks) {
            for (TracedProcess process : rank.processes()) {
                List<Region> flagged = ImageBuilder.regions(process, regions.get(process));
                DontForkMemory.forget(process, flagged);
                rank.scan(process);
                addGuards(process, guards);
                allRegions.addAll(flagged);
                ImageBuilder.Kept kept = rank.tracer.call(() -> ImageBuilder.process(process, flagged));
                processes.add(kept.state());
                attributes.addAll(kept.attributes());
                threads.addAll(ImageBuilder.threads(process));
                timers.addAll(process.timers);
                attributes.addAll(process.timerClocks);
                privileges.addAll(PrivilegeReader.records(process));
                attributes.addAll(SharingCheck.attributes(process));
            }
        }
        ranks.forEach(rank -> attributes.addAll(rank.zombies().users()));
        attributes.addAll(owners);
        if (parent > INIT) {
            attributes.add(Attribute.of(AttributeKind.PARENT, processes.getFirst().pid(), 0, parent));
        }
        List<JobFile> jobFiles = files.rows();
        List<JobName> allNames = new ArrayList<>(names);
        allNames.addAll(DirectoriesAbove.of(objects, jobFiles, names, users()));
        long lastId = LongStream.of(objects.stream().mapToLong(KernelObject::id).max().orElse(0),
                tcpSockets.stream().mapToLong(TcpSocket::id).max().orElse(0),
                terminals.stream().mapToLong(TerminalObject::id).max().orElse(0),
                packetSockets.stream().mapToLong(PacketSocket::id).max().orElse(0),
                sources(jobFiles).max().orElse(0)).max().getAsLong();
        return new JobImage(processes, threads, allRegions, descriptors,
                files.withMapped(objects, jobFiles, allRegions, MountViews.of(objects, List.of()), lastId), timers,
                zombies, clocks,
                VectorLayouts.here(threads.getFirst().xstate()), tcpSockets, terminals, watches, packetSockets, guards,
                jobFiles, privileges, attributes,
                List.of(), notices, allNames);
    }

    /** The effective users of the processes (proc_pid_status(5)). */
    private Set<Integer> users() {
        return processes(ranks).stream()
                .map(process -> Integer.parseUnsignedInt(Proc.field(process.status, "Uid:").split("\\s+")[1]))
                .collect(Collectors.toSet());
    }

    /**
     * What the files are of which the image has no content; in the thread that asked for the image, while the job runs.
     *
     * @param known from earlier captures by this process
     */
    public List<FileIdentity> identities(KnownFiles known) {
        return files.identities(image(), known);
    }

    /** The programs and libraries that are in the image; when {@link #sources} were found. */
    public Libraries libraries() {
        return files.libraries();
    }

    private static void addGuards(TracedProcess process, List<GuardPages> to) {
        for (long[] pairs : List.of(process.snapshot.guards(), process.dontForkGuards)) {
            for (int i = 0; i < pairs.length; i += 2) {
                to.add(new GuardPages(process.namespacePid, pairs[i], pairs[i + 1]));
            }
        }
    }

    private static LongStream sources(List<JobFile> files) {
        return files.stream().filter(JobFile.RegularFile.class::isInstance)
                .mapToLong(file -> ((JobFile.RegularFile) file).id());
    }

    /**
     * One per process that has memory of its own, then one per shared object and file that is not empty; found by the
     * first call.
     */
    public List<MemorySource> sources() {
        image(); // which has system calls made in the snapshots, which must stand still, and finds their pages
        sources = sources == null ? findSources() : sources;
        return sources;
    }

    private List<MemorySource> findSources() {
        List<MemorySource> sources = new ArrayList<>();
        for (RankCapture rank : ranks) {
            List<Snapshot> tree = rank.processes().stream().filter(process -> !process.sharesMemory)
                    .map(process -> process.snapshot).toList();
            SharedPages.find(tree);
            sources.addAll(tree);
        }
        for (ContentCopy copy : copies) {
            if (!copy.empty()) {
                sources.add(copy);
            }
        }
        sources.addAll(files.sources(image()));
        return sources;
    }

    /**
     * To be asked when all sources have been read: whether the job's files were what they had been in the stop.
     *
     * @throws FileTorn this capture is of no use then; another one may be
     */
    public void verifyFiles() {
        files.verify();
    }

    /**
     * Ends the snapshots and frees the copies; the job is not touched, but runs if it still stood. From any thread,
     * also from several: all has ended when any of them returns.
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (standing) {
            standing = false;
            RuntimeException asked = new IllegalStateException("the capture was closed before the ranks ran again");
            abandon(ranks, copies, files, asked);
            if (asked.getSuppressed().length > 0) {
                throw asked;
            }
            return;
        }
        RuntimeException first = null;
        for (TracedProcess process : processes(ranks)) {
            try {
                process.snapshot.close();
            } catch (RuntimeException failure) {
                first = first == null ? failure : first;
            }
        }
        ranks.forEach(rank -> rank.tracer.close());
        copies.forEach(ContentCopy::close);
        files.close();
        if (first != null) {
            throw first;
        }
    }
}
