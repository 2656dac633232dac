package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.SIGKILL;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MonotonicClock;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.NewNames;
import org.udckpt.process.kinds.deleted.DeletedWorkingDirectory;
import org.udckpt.process.kinds.terminal.TerminalRestore;
import org.udckpt.process.kinds.unix.PeerMakers;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.GuardPages;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.MountViews;
import org.udckpt.process.model.NamespaceOwner;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.model.SharedTables;
import org.udckpt.process.model.StopSignals;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.names.NameRefused;
import org.udckpt.process.names.OwnDirectories;
import org.udckpt.process.names.PlacedNames;
import org.udckpt.process.restore.lazy.Support;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.TraceeGone;
import org.udckpt.process.trace.TracerThread;
import org.udckpt.process.trace.VectorLayouts;

/**
 * Makes a job's processes again from an image, in the namespaces of a shepherd that was started with --restore. Until
 * all of them are complete none runs, and the kernel kills them should this process end; then all go at once.
 */
public final class Restorer {
    private final JobImage image;
    private final RestoreTarget target;
    private final Owners owners;
    private final ProcessTree tree;
    private final Map<Long, MemorySource> sharedContents = new HashMap<>();
    private final Map<Long, MemorySource> privateContents = new HashMap<>();
    private final Map<Long, SharedMemory> sharedMemories = new LinkedHashMap<>();
    private final Map<Integer, AddressSpace> spaces = new LinkedHashMap<>();
    private final Map<Integer, List<Region>> regions;
    private final Map<Integer, List<PosixTimer>> timers;
    private final Handles handles;
    private final InheritedMemory inherited;
    private final LazyProcesses lazy;
    private final NamedFiles names;
    private final SharedTables memories;
    private Descriptors descriptors;

    private Restorer(JobImage image, List<MemorySource> memory, RestoreTarget target, Owners owners,
            NamedFiles names, long lazyFrom) {
        this.image = image;
        this.target = target;
        this.owners = owners;
        this.names = names;
        memory.forEach(source -> (source.process() ? privateContents : sharedContents).put(source.id(), source));
        image.objects().stream().filter(SharedMemory.class::isInstance).map(SharedMemory.class::cast)
                .forEach(m -> sharedMemories.put(m.id(), m));
        this.regions = image.regions().stream().collect(Collectors.groupingBy(Region::pid));
        this.timers = image.timers().stream().collect(Collectors.groupingBy(PosixTimer::pid));
        this.memories = SharedTables.of(image, AttributeKind.SHARED_MEMORY);
        this.handles = new Handles(image);
        this.inherited =
                new InheritedMemory(ProcessTree.plan(image, owners), image, regions, privateContents, handles, names);
        this.tree = new ProcessTree(image, target, owners, new TerminalRestore(image, handles), handles, inherited);
        Map<Long, MemorySource> rest = new HashMap<>();
        privateContents.forEach((pid, source) -> rest.put(pid, inherited.rest(source)));
        // the memory of several would have to be filled when the one of which it is known has ended, too
        List<ProcessState> alone = image.processes().stream().filter(one -> memories.alone(one.pid())).toList();
        this.lazy = LazyProcesses.plan(alone, this::regionsOf, rest, lazyFrom, target);
    }

    /**
     * Whether there is an order in which the processes can be made, and this process may give the job's threads their
     * users and capabilities, and knows all their attributes. To be asked before files are put back; {@link #restore}
     * asks again.
     *
     * @param naming {@link RestoreTarget#name}
     * @throws RestoreException naming the process; another user may
     */
    public static void checkRights(JobImage image, Function<ProcessState, String> naming) {
        Owners owners = new Owners(image, naming);
        ProcessTree.check(image, owners);
        Credentials.check(image, owners);
        PeerMakers.check(image, owners);
        KernelAttributes.refuseUnknown(image, owners);
        ProcessAttributes.checkLimits(image, owners);
        refuseNamespaces(image, false);
    }

    /** @param covered other directories lie over the job's own */
    private static void refuseNamespaces(JobImage image, boolean covered) {
        Set<Integer> owned = image.objects().stream().filter(NamespaceOwner.class::isInstance)
                .map(one -> ((NamespaceOwner) one).tree()).collect(Collectors.toSet());
        boolean all = image.processes().stream().map(process -> MountViews.of(image).namespace(process.pid()))
                .allMatch(tree -> tree == 0 || owned.contains(tree));
        if (!MountViews.of(image).one() && (covered || User.id() != 0 && !all)) {
            throw new RestoreException(RestoreException.Reason.UNSUPPORTED, "the job has mount namespaces of its own "
                    + "(unshare(2)), " + (covered ? "in which files cannot be protected from changes"
                            : "which only root can make again"));
        }
    }

    /**
     * Whether the job's programs and libraries, and what it reads, are there as they were; {@link #restore} looks
     * again.
     *
     * @param memory its sources, of which nothing is read
     * @param warn is told what is odd, and no hindrance
     * @throws RestoreException naming the one that is not
     */
    public static void checkPrograms(JobImage image, Collection<MemorySource> memory, Consumer<String> warn) {
        new FileChecks(image, warn, named(image))
                .bySizeAndTime(image.files().stream().map(JobFile::path).collect(Collectors.toSet()));
        VerifiedFiles.of(image, SavedLibraries.look(image, memory), false, warn).close();
    }

    private static NamedFiles named(JobImage image) {
        return new NamedFiles(image, false, Map.of(), VerifiedFiles.NONE);
    }

    /**
     * Whether what else the job has outside of itself is there, and free: files and directories, names, ports, room for
     * its shared memory. To be asked before files are put back, also by who only wants to know; {@link #restore} asks
     * again.
     *
     * @param memory its sources, of which nothing is read
     * @param naming {@link RestoreTarget#name}
     * @param warn hears of what is odd, and no hindrance
     * @throws RestoreException naming what is not
     * @throws NameRefused naming what stands in the way, and whose it is
     */
    public static void checkEnvironment(JobImage image, Collection<MemorySource> memory,
            Function<ProcessState, String> naming, Consumer<String> warn) {
        new FileChecks(image, warn, named(image)).checkBefore();
        NewNames.check(image);
        SharedRoom.check(image, memory);
        HereObjects.check(image, new Owners(image, naming));
    }

    /** As {@link #restore(JobImage, List, RestoreTarget, long)}, with all memory in place before the start. */
    public static Map<Integer, Integer> restore(JobImage image, List<MemorySource> memory, RestoreTarget target) {
        return restore(image, memory, target, Long.MAX_VALUE).hostPids();
    }

    /**
     * Restores and starts the job.
     *
     * @param memory one source per process and per {@link SharedMemory} of the image
     * @param lazyFrom memory comes in after the start, where so many bytes of it can; {@link Support#refusal} must have
     *     none then
     * @throws RestoreException when it cannot be; nothing is left running then
     */
    public static Restored restore(JobImage image, List<MemorySource> memory, RestoreTarget target, long lazyFrom) {
        Owners owners = new Owners(image, process -> target.name(process));
        ProcessTree.check(image, owners);
        Credentials.check(image, owners);
        PeerMakers.check(image, owners);
        KernelAttributes.refuseUnknown(image, owners);
        ProcessAttributes.checkLimits(image, owners);
        SharedRoom.check(image, memory);
        refuseNamespaces(image, target.changes() != null);
        // The tracer's end kills what is still traced (PTRACE_O_EXITKILL).
        try (VerifiedFiles verified = VerifiedFiles.of(image, SavedLibraries.of(image, memory),
                target.changes() == null, target::warn)) {
            NamedFiles names = new NamedFiles(image, target.changes() != null, target.putBack(), verified);
            FileChecks files = new FileChecks(image, target::warn, names);
            files.check();
            if (target.changes() == null) {
                // else what the job that goes on has is covered, or found in use when the name is made
                NewNames.check(image);
            }
            try (FileModes modes = new FileModes(image, names);
                    TracerThread tracer = new TracerThread("udckpt-restore")) {
                Restorer restorer = new Restorer(image, memory, target, owners, names, lazyFrom);
                return tracer.call(() -> restorer.run(files, modes));
            }
        } catch (TraceeGone gone) {
            throw new RestoreException(RestoreException.Reason.FAILED,
                    "a process died while it was restored: " + gone.getMessage(), gone);
        }
    }

    private Restored run(FileChecks files, FileModes modes) {
        boolean complete = false;
        Map<Integer, Tracee> tracees = Map.of();
        FirstInstruction start = null;
        PlacedNames placed = null;
        try (lazy; Pages pages = new Pages(); HereObjects here = new HereObjects(image, owners)) {
            here.make(target::warn);
            // not before: a port may have been waited for
            target.clock(image.clocks().monotonicNs() - MonotonicClock.now());
            inherited.copyBy(pages);
            tracees = tree.build();
            if (target.changes() != null) {
                target.changesMounted(PrivateFiles.seenBy(tracees.values().iterator().next()));
            }
            target.reached("processes");
            placed = new PlacedNames(new OwnDirectories(image),
                    target.changes() == null ? "" : PrivateFiles.seenBy(tracees.values().iterator().next()),
                    names::stands, target::warn);
            List<Threads> threads = build(tracees, pages, here, placed);
            if (target.cutsFilesBack()) {
                files.cutBack(target.changes() == null ? "" : PrivateFiles.seenBy(tracees.values().iterator().next()));
            }
            placed.settle();
            descriptors.complete();
            modes.close(); // before anything runs that could see them
            spaces.values().forEach(AddressSpace::leaveKernelPages);
            threads.forEach(Threads::setRegisters);
            stopStopped(tracees);
            start = new FirstInstruction(threads, image.processes().stream().filter(ProcessState::jobStopped)
                    .map(ProcessState::pid).collect(Collectors.toSet()), target);
            start.hold();
            target.go();
            start.letGo();
            // not before: it would take processors from what the first instruction waits for; not later: other hosts
            // may let wait for theirs
            lazy.fetchRest();
            target.reached("threads");
            complete = true;
            placed.commit();
            return new Restored(tracees.values().stream().collect(Collectors.toMap(Tracee::pid, Tracee::hostPid)),
                    lazy.keep());
        } finally {
            if (!complete) {
                tree.stubs().forEach(Restorer::kill);
                if (start != null) {
                    start.handedOver().forEach(Restorer::kill);
                }
                if (placed != null) {
                    placed.close();
                }
                if (descriptors != null) {
                    descriptors.undo();
                }
            }
            tracees.values().forEach(Tracee::close);
        }
    }

    private List<Threads> build(Map<Integer, Tracee> tracees, Pages pages, HereObjects here, PlacedNames placed) {
        NewNames newNames = new NewNames(image);
        byte[] model = Ptrace.xstate(tracees.values().iterator().next().hostPid());
        VectorConversion vectors = new VectorConversion(image.vectors(), VectorLayouts.here(model), model);
        Map<Integer, List<ThreadState>> threadStates = threadsForHere(tracees, vectors);
        Map<Integer, List<ThreadState>> inMemory = threadStates.values().stream().flatMap(List::stream)
                .collect(Collectors.groupingBy(thread -> memories.first(thread.pid())));
        descriptors = new Descriptors(image, tracees, handles, names, newNames, placed, target, tree,
                new SharedContents(sharedContents, pages, target.changes()), lazy);
        names.shepherd(tree.shepherd());
        descriptors.enter();
        here.makeInside(tracees, target::warn);
        Set<Integer> elsewhere = DeletedWorkingDirectory.of(image);
        for (ProcessState process : image.processes()) {
            Tracee tracee = tracees.get(process.pid());
            if (!memories.shares(process.pid())) {
                AddressSpace space = new AddressSpace(tracee, process, regionsOf(process), guardsOf(process), handles,
                        sharedMemories, names, inherited.of(tracee));
                spaces.put(process.pid(), space);
                space.clear(contents(tracee), inMemory.getOrDefault(process.pid(), List.of()));
                ProcessAttributes.registerBarriers(tracee, process.barriers());
            }
            ProcessAttributes.permitVectors(tracee, process);
            if (!elsewhere.contains(process.pid())) {
                ProcessAttributes.enter(tracee, process, names);
            }
        }
        descriptors.makeMemory();
        for (ProcessState process : image.processes()) {
            Tracee tracee = tracees.get(process.pid());
            attributesOf(process, tracee).logIn();
            if (memories.shares(process.pid())) {
                continue;
            }
            spaces.get(process.pid()).map();
            attributesOf(process, tracee).placeMemory();
            MemorySource now = lazy.begin(tracee, tree.shepherd(),
                    ProcessContents.own(inherited.rest(contents(tracee)), regionsOf(process)));
            pages.fillMemory(now, tracee.memory(), 0, tracee.name());
            pages.alongside(() -> lazy.needAtOnce(tracee, threadStates.getOrDefault(process.pid(), List.of())));
        }
        target.reached("mappings");
        List<Threads> threads = new ArrayList<>();
        for (ProcessState process : image.processes()) {
            threads.add(new Threads(tracees.get(process.pid()), threadStates.getOrDefault(process.pid(), List.of()),
                    attributesOf(process, tracees.get(process.pid())).mainEnd()));
        }
        spaces.values().stream().filter(space -> !space.hasNamelessProgram()).forEach(AddressSpace::describe);
        descriptors.make(here.all());
        tree.endMakers();
        target.reached("objects");
        pages.await(); // a seal would keep out what is still being copied
        lazy.serve();
        target.reached("memory");
        spaces.forEach(
                (pid, space) -> space.convertSignalFrames(vectors, inMemory.getOrDefault(pid, List.of()), lazy));
        descriptors.finishMemory();
        spaces.values().stream().filter(AddressSpace::hasNamelessProgram).forEach(AddressSpace::describe);
        descriptors.place();
        NewEnvironment environment = new NewEnvironment(target, lazy);
        spaces.keySet().forEach(pid -> environment.give(tracees.get(pid), regions.getOrDefault(pid, List.of())));
        for (int i = 0; i < image.processes().size(); i++) {
            ProcessState process = image.processes().get(i);
            finish(tracees.get(process.pid()), process, threads.get(i));
        }
        spaces.keySet().forEach(pid -> tracees.get(pid).unmapScratch());
        return threads;
    }

    private MemorySource contents(Tracee tracee) {
        MemorySource source = privateContents.get((long) tracee.pid());
        if (source == null) {
            throw tracee.failed("the image does not contain its memory");
        }
        return source;
    }

    private List<GuardPages> guardsOf(ProcessState process) {
        return image.guards().stream().filter(guard -> guard.pid() == process.pid()).toList();
    }

    private KernelAttributes attributesOf(ProcessState process, Tracee tracee) {
        return new KernelAttributes(tracee,
                image.attributes().stream().filter(attribute -> attribute.pid() == process.pid()).toList());
    }

    private List<Region> regionsOf(ProcessState process) {
        return regions.getOrDefault(process.pid(), List.of());
    }

    /** As the image has them, but with vector state for this processor. */
    private Map<Integer, List<ThreadState>> threadsForHere(Map<Integer, Tracee> tracees, VectorConversion vectors) {
        return image.threads().stream().map(thread -> vectors.convert(tracees.get(thread.pid()), thread))
                .collect(Collectors.groupingBy(ThreadState::pid));
    }

    private Map<Integer, Integer> clocks(ProcessState process) {
        return image.attributes().stream()
                .filter(one -> one.kind() == AttributeKind.TIMER_CLOCK && one.pid() == process.pid())
                .collect(Collectors.toMap(one -> (int) one.values()[0], Attribute::tid));
    }

    /** Memory and descriptors are there: the rest of the process's state. */
    private void finish(Tracee tracee, ProcessState process, Threads threads) {
        KernelAttributes attributes = attributesOf(process, tracee);
        threads.describe(process);
        ProcessAttributes.restore(tracee, process, attributes.hugePagesFlags());
        if (!memories.shares(process.pid())) {
            spaces.get(process.pid()).seal(); // a batch: not when the job's handler of SIGTRAP is there
        }
        List<PosixTimer> own = timers.getOrDefault(process.pid(), List.of());
        Signals.restore(tracee, process, own, threads.pendingSignals());
        threads.queueSignals(own);
        Timers.restore(tracee, process, own, clocks(process), threads);
        attributes.giveThreads(threads);
        attributes.giveProcess();
        ProcessAttributes.restoreLimits(tracee, process);
        threads.restrict(process, image.privileges().stream().filter(one -> one.pid() == process.pid()).toList());
        if (Syscall.call(Syscall.GETEUID) != 0 && !Credentials.inNamespaces(image).contains(process.pid())) {
            threads.dropCapabilities();
        }
        ProcessAttributes.restoreLast(tracee, process);
    }

    /** A stopped job stays stopped: the signal waits until the tracer lets go. */
    private void stopStopped(Map<Integer, Tracee> tracees) {
        for (ProcessState process : image.processes()) {
            if (process.jobStopped()) {
                Tracee tracee = tracees.get(process.pid());
                LinuxError.check(Syscall.call(Syscall.KILL, tracee.hostPid(), StopSignals.of(image, process)),
                        tracee.name() + ": stop again");
            }
        }
    }

    private static void kill(int hostPid) {
        try (ProcessHandleFd process = new ProcessHandleFd(hostPid)) {
            process.signal(SIGKILL);
        } catch (LinuxError gone) {
            if (gone.errno() != LinuxError.ESRCH) {
                throw gone;
            }
        }
    }
}
