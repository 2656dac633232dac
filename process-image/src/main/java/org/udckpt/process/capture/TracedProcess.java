package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MappingFlags;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.CallFilter;
import org.udckpt.process.kinds.base.GroupMember;
import org.udckpt.process.kinds.base.ThreadPlace;
import org.udckpt.process.kinds.mount.MountNamespace;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.Unwritten;
import org.udckpt.process.trace.WaitStatus;

/** A process in the middle of a capture. Pids are the agent's, except where a name says namespace. */
final class TracedProcess implements AskedProcess {
    /** Of {@link Proc#stat}: field 52 of proc_pid_stat(5). */
    private static final int EXIT_CODE = 52 - 3;
    private static final String OWN_MOUNTS = Files.readLink("/proc/self/ns/mnt");

    final int rank;
    /** Messages name it by pid and program: {@link CaptureRequest.Root#tree}. */
    private final boolean tree;
    final int pid;
    final TracedProcess parent;
    /** Its parent has ended, and the shepherd has it now (a daemon): it belongs to the job, but is no rank. */
    final boolean orphan;
    /** {@link #task()}. */
    private int task;
    /** How its main thread has ended; null: it has not. */
    WaitStatus mainEnd;
    /** The main thread that has ended, with what is still known of it; null: it has not. */
    TracedThread endedMain;
    final List<TracedThread> threads = new ArrayList<>();
    /** Threads of the kernel that work for it, and are no part of it. */
    final Set<Integer> workers = new HashSet<>();
    final List<PosixTimer> timers = new ArrayList<>();
    final List<Attribute> timerClocks = new ArrayList<>();
    /** What of its memory need not be read. */
    Unwritten unwritten = Unwritten.NOTHING;

    ProcessMemory memory;
    List<Mapping> mappings;
    Parasite parasite;
    String status;
    CaptureRequest.Library library; // null: nothing in it belongs to the library
    int namespacePid;
    int namespaceGroup;
    int namespaceSession;
    /** Of a pid namespace of the job's own, below that in which the job was started; null: it is in none. */
    InnerNumbers inner;
    /** Its children are in a pid namespace of which it is no part itself (unshare(2)). */
    boolean childrenApart;
    byte[] pendingSignals;
    final long[] intervalTimers = new long[6];
    int parentDeathSignal;
    boolean childSubreaper;
    int barriers;
    /** PR_GET_MDWE. */
    int denyWriteExecute;
    /** MCL_FUTURE, with MCL_ONFAULT or not (mlockall(2)); 0: neither. */
    int lockFuture;
    /** Its working directory has lost its name. */
    boolean workingDirectoryDeleted;
    /** Its program has: what is mapped of it is in the image. */
    boolean programDeleted;
    String rootDirectory = "/";
    /** {@link #mounts()}; null: through its own root. */
    String seenThrough;
    /** Null: that in which the job was started. */
    MountNamespace mountNamespace;
    /** {@link #ipcNamespace()} */
    long ipcNamespace;
    /** It is in a user namespace that the job has made. */
    boolean ownUsers;
    /** The process that the job was started by, in this one's namespace: {@link SharingCheck#origin}. */
    int originPid;
    int[] ownedDescriptors = new int[0];
    long[] ownedRanges = new long[0];
    /** {start, end} pairs of guard pages in memory that is not in the snapshot. */
    long[] dontForkGuards = new long[0];
    /**
     * By their starts, where a fork has not all of them: locks (mlock(2)), and those of memory that is not forked. Else
     * empty.
     */
    Map<Long, MappingFlags> flags = Map.of();
    /** Starts of the System V segments that were not attached for reading only, whatever mprotect(2) did then. */
    final Set<Long> writableSegments = new HashSet<>();
    List<CallFilter> callFilters = List.of();
    List<GroupMember> groupMembers = List.of();
    List<ThreadPlace> threadPlaces = List.of();
    private List<TracedThread> ownTables;
    /** With its parent (clone(2), CLONE_FILES). */
    boolean sharesDescriptors;
    /** With its parent (CLONE_FS). */
    boolean sharesDirectories;
    /** With its parent (CLONE_VM): the image has it once. */
    boolean sharesMemory;
    /** With its parent (CLONE_SIGHAND). */
    boolean sharesHandlers;
    /** Null, or why it is not trusted with what is the agent's ({@link AgentRights}). */
    String lostRights;
    Snapshot snapshot;
    /** Whether its /proc shows its pid namespace of the job's own; null: not known yet. */
    private Integer shownLevel;
    /** As {@link #hasMountsOfItsOwn} was answered; null: not yet. */
    private Boolean mounts;

    static TracedProcess root(CaptureRequest.Root root) {
        return new TracedProcess(root.rank(), root.tree(), root.pid(), null, false);
    }

    static TracedProcess orphan(CaptureRequest.Root root, int pid) {
        return new TracedProcess(root.rank(), root.tree(), pid, null, true);
    }

    /** The same for another stop of it. */
    TracedProcess again() {
        TracedProcess again = new TracedProcess(rank, tree, pid, null, orphan);
        again.task = task;
        return again;
    }

    /** Another process of its rank. */
    TracedProcess beside(int other) {
        return new TracedProcess(rank, tree, other, null, false);
    }

    TracedProcess child(int child) {
        return new TracedProcess(rank, tree, child, this, false);
    }

    /** Its main thread has ended, while others run (pthread_exit(3) in main): what it left is seen through another. */
    void mainEnded() {
        mainEnd = new WaitStatus(Integer.parseInt(Proc.stat(pid)[EXIT_CODE]));
        task = main().tid;
    }

    private TracedProcess(int rank, boolean tree, int pid, TracedProcess parent, boolean orphan) {
        this.orphan = orphan;
        this.rank = rank;
        this.tree = tree;
        this.pid = pid;
        this.task = pid;
        this.parent = parent;
    }

    /** During the stop. */
    void readFlags() {
        flags = MappingFlags.of(task).stream().collect(Collectors.toMap(MappingFlags::start, Function.identity()));
    }

    /**
     * Whether its forks have a parent that is not the shepherd when their maker ends: the first process of a pid
     * namespace of the job's own.
     */
    boolean forksApart() {
        return inner != null || childrenApart;
    }

    /** Threads with tables of descriptors of their own. From outside, in each thread of this process. */
    synchronized List<TracedThread> ownTables() {
        if (ownTables == null) {
            ownTables = threads.stream().filter(one -> !SharingCheck.shareDescriptors(task, one.tid)).toList();
        }
        return ownTables;
    }

    /** All that the image has: a main thread is there, and first, also when it has ended. */
    List<TracedThread> withEndedMain() {
        return endedMain == null ? threads : Stream.concat(Stream.of(endedMain), threads.stream()).toList();
    }

    /** The main thread; where that has ended, another. */
    TracedThread main() {
        return threads.getFirst();
    }

    /**
     * Whether other file systems may be mounted for it than for this process: after a restart (mount_namespaces(7)).
     */
    @Override
    public boolean hasMountsOfItsOwn() {
        if (mounts == null) {
            mounts = !OWN_MOUNTS.equals(Files.readLink("/proc/" + task + "/ns/mnt"));
        }
        return mounts;
    }

    /** A rank's first process. */
    @Override
    public boolean root() {
        return parent == null && !orphan;
    }

    /** As errors call it. */
    @Override
    public String toString() {
        return tree ? "process " + pid + program() : "rank " + rank + " (process " + pid + ")";
    }

    private String program() {
        try {
            return " (" + Proc.text("/proc/" + pid + "/comm").strip() + ")";
        } catch (LinuxError gone) {
            return "";
        }
    }

    /** The mappings that the image has as this process's. */
    List<Mapping> ownMappings() {
        return sharesMemory ? List.of() : mappings;
    }

    boolean owns(Mapping mapping) {
        for (int i = 0; i < ownedRanges.length; i += 2) {
            if (mapping.start() >= ownedRanges[i] && mapping.start() < ownedRanges[i + 1]) {
                return true;
            }
        }
        return false;
    }

    @Override
    public CaptureRefused refuse(String reason) {
        return new CaptureRefused(this, -1, reason);
    }

    @Override
    public CaptureRefused refuse(int descriptor, String reason) {
        return new CaptureRefused(this, descriptor, reason);
    }

    @Override
    public CaptureFailed failed(int descriptor, String reason) {
        return new CaptureFailed("%s, descriptor %d: %s".formatted(this, descriptor, reason));
    }

    @Override
    public String rootDirectory() {
        return rootDirectory;
    }

    @Override
    public String mounts() {
        return seenThrough == null ? AskedProcess.super.mounts() : seenThrough;
    }

    @Override
    public long ipcNamespace() {
        return ipcNamespace;
    }

    @Override
    public int mountNamespace() {
        return mountNamespace == null ? 0 : mountNamespace.number();
    }

    @Override
    public String seen(String path) {
        return mountNamespace == null ? mounts() + path : mountNamespace.seen(this, mounts(), path);
    }

    @Override
    public String outside(String path) {
        return mountNamespace == null ? path : mountNamespace.outside(this, path);
    }

    @Override
    public boolean ownsFileSystem(Files.Stat file, String through) {
        return mountNamespace != null && mountNamespace.owns(file, through);
    }

    @Override
    public boolean fromOutside(String path, Files.Stat file) {
        return mountNamespace != null && mountNamespace.fromOutside(this, path, file);
    }

    @Override
    public List<GroupMember> groupMembers() {
        return groupMembers;
    }

    @Override
    public List<ThreadPlace> threadPlaces() {
        return threadPlaces;
    }

    @Override
    public List<CallFilter> callFilters() {
        return callFilters;
    }

    @Override
    public boolean workingDirectoryDeleted() {
        return workingDirectoryDeleted;
    }

    @Override
    public int pid() {
        return pid;
    }

    @Override
    public int task() {
        return task;
    }

    @Override
    public int namespacePid() {
        return namespacePid;
    }

    @Override
    public int namespaceGroup() {
        return namespaceGroup;
    }

    @Override
    public int pidNamespaces() {
        return inner == null ? 0 : inner.depth();
    }

    @Override
    public int ownPid() {
        return inner == null ? namespacePid : inner.pid();
    }

    @Override
    public int ofOwn(int number) {
        return inner == null ? number : inner.job(number);
    }

    @Override
    public int ofNamespace(int number) {
        return inner == null ? number : inner.jobOfAny(number);
    }

    @Override
    public int ofProc(int number) {
        if (shownLevel == null) {
            shownLevel = inner == null ? InnerNumbers.NONE : inner.shownBy(task, mounts() + "/proc/");
        }
        return shownLevel == InnerNumbers.NONE ? number : inner.jobOfAny(shownLevel, number);
    }

    @Override
    public int namespaceThread(int tid) {
        return threads.stream().filter(thread -> thread.tid == tid).mapToInt(thread -> thread.namespaceTid).findFirst()
                .orElse(0);
    }

    @Override
    public Set<Integer> namespaceThreads() {
        return Stream.concat(Stream.of(namespacePid), threads.stream().map(thread -> thread.namespaceTid))
                .collect(Collectors.toSet());
    }

    @Override
    public long tryCall(long number, long... arguments) {
        return main().injector.call(number, arguments);
    }

    @Override
    public long results() {
        return Parasite.results(main().frame);
    }

    @Override
    public int resultBytes() {
        return Parasite.RESULT_BYTES;
    }

    @Override
    public byte[] read(long address, int bytes) {
        return memory.readBytes(address, bytes);
    }

    @Override
    public long libraryData(String symbol, int bytes) {
        PreloadedLibrary found = PreloadedLibrary.find(this);
        long address = found == null ? -1 : found.find(symbol);
        Mapping data = address < 0 ? null : found.mapping(address, bytes);
        return data == null || !data.writable() ? 0 : address; // as in Attachment
    }

    @Override
    public List<MappedRange> mapped(String path) {
        return ownMappings().stream().filter(one -> one.path().equals(path))
                .map(one -> new MappedRange(one.start(), one.end(), one.device() + ":" + one.inode())).toList();
    }

    @Override
    public int failedCalls(long... numbers) {
        return (int) threads.stream()
                .filter(one -> one.registers.error() > 0
                        && LongStream.of(numbers).anyMatch(number -> number == one.registers.systemCall()))
                .count();
    }

    @Override
    public CaptureFailed failed(String reason) {
        return new CaptureFailed(this + ": " + reason);
    }

    @Override
    public int[] ownedDescriptors() {
        return ownedDescriptors;
    }
}
