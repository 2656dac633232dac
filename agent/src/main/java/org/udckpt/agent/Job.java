package org.udckpt.agent;

import static org.udckpt.linux.LinuxConstants.SIGKILL;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.udckpt.address.AddressAuthority;
import org.udckpt.address.AddressMap;
import org.udckpt.address.CountersFile;
import org.udckpt.address.Endpoint;
import org.udckpt.address.HostAddress;
import org.udckpt.address.RankSpan;
import org.udckpt.address.TranslationTable;
import org.udckpt.agent.command.CommandServer;
import org.udckpt.agent.command.JobCommands;
import org.udckpt.launch.DeviceChoice;
import org.udckpt.launch.HostAddresses;
import org.udckpt.launch.Shepherd;
import org.udckpt.launch.ShepherdListener;
import org.udckpt.launch.SoftPorts;
import org.udckpt.launch.pmi.PmiListener;
import org.udckpt.launch.pmi.PmiServer;
import org.udckpt.launch.pmi.PmiState;
import org.udckpt.launch.pmi.ProcessMapping;
import org.udckpt.linux.MountThread;
import org.udckpt.process.restore.lazy.Filling;
import org.udckpt.process.tracking.WriteTracking;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.runtime.JobRecord;
import org.udckpt.support.runtime.ProcessTimes;
import org.udckpt.support.runtime.RuntimeDirectory;
import org.udckpt.ud.ControlServer;
import org.udckpt.ud.LibraryConnection;
import org.udckpt.ud.RankNumbers;

/**
 * A job, or those of its ranks that are of one unit, while their agent (this process) runs: all parts, opened in order,
 * closed in reverse.
 */
public final class Job implements AutoCloseable {
    /** The first octets of the soft fabric's addresses, where UDCKPT_SOFT_NET says nothing. */
    public static final String DEFAULT_NET = "127.77";
    private static final int TABLE_ENTRIES_MIN = 1 << 16; // a sparse file: what is not in use costs nothing
    private static final int QUEUE_PAIRS_PER_RANK = 64; // generous: UCX makes one or two per worker

    private final Settings settings;
    private final JobFacts facts;
    private final boolean terminal;
    private final Closers closers = new Closers();
    private final RuntimeDirectory runtime;
    private final AddressMap addresses;
    private final AddressAuthority authority;
    private final TranslationTable table;
    private final HostAddresses hosts;
    private final ControlServer control;
    private final PmiServer pmi;
    private final CountersFile counters;
    private final RankTable ranks;
    private final RankNumbers numbers;
    private final AtomicLong earlierSends = new AtomicLong();
    private final EndRequest askedEnd = new EndRequest();
    private final UserSignals userSignals = new UserSignals(askedEnd, this::signal, this::endByForce);
    private Runnable beforeNextRun = () -> {};
    private volatile Shepherd shepherd;
    private volatile Filling filling = Filling.NOTHING;
    private volatile WriteTracking tracking = WriteTracking.OFF;
    private volatile BooleanSupplier terminalTaken = () -> false;
    private volatile EndListener endListener = EndListener.NOBODY;

    /**
     * Opens everything but the ranks.
     *
     * @param map empty in a first incarnation
     * @param pmiState null in a first incarnation
     */
    public Job(Settings settings, JobFacts facts, JobContext around, AddressMap map, PmiState pmiState) {
        OpenFileLimit.require(facts.span().count());
        this.settings = settings;
        this.facts = facts;
        this.terminal = around.terminal();
        this.addresses = map;
        this.ranks = new RankTable(facts.roots(), this::killRanks, (code, why) -> endListener.ends(code, why));
        this.runtime = RuntimeDirectory.create(settings, around.runtime());
        closers.add(runtime::delete);
        try {
            writeJobFile(0);
            hosts = closers.add(HostAddresses.reserve(facts.layout(), facts.span(), devices(), map, around.machines(),
                    SoftPorts.of(around.environment()),
                    around.environment().getOrDefault("UDCKPT_SOFT_NET", DEFAULT_NET)));
            counters = closers.add(CountersFile.create(runtime.counters(), facts.span()));
            table = closers.add(TranslationTable.create(runtime.table(), tableCapacity(facts.span().total()),
                    facts.generation(), around.key(), facts.span().isAll()));
            numbers = new RankNumbers(facts.span(), reservedNumbers(), this::isAlive, rank -> renew(rank.number()));
            authority = around.authority().apply(map);
            control = closers.add(ControlServer.start(runtime.path(), facts.generation(), authority, table,
                    this::hostOf, numbers, hosts, pid -> tracking.leave(pid)));
            pmi = closers.add(openPmi(pmiState));
        } catch (IOException | RuntimeException e) {
            closers.close();
            throw Failure.of("starting job " + facts.name(), e);
        }
    }

    /** The devices of the job; those of the agent's own hosts must be here. */
    private DeviceChoice devices() {
        if (facts.span().isAll()) {
            return DeviceChoice.resolve(settings);
        }
        return DeviceChoice.read(settings).requireHere(facts.layout().hostOf(facts.span().first()));
    }

    private int reservedNumbers() {
        return switch (facts.launch()) {
            case RANKS -> facts.span().total();
            case PMIX, TREE -> 0;
        };
    }

    private boolean isAlive(int pid) {
        return JobProcesses
                .below(ranks.ranks().stream().filter(RankTable.Rank::alive).map(RankTable.Rank::hostPid).toList())
                .stream()
                .anyMatch(process -> process.pid() == pid);
    }

    /** A rank's number has become another process's: nothing of the last one stays. */
    private void renew(int rank) {
        addresses.forget(rank).forEach(endpoint -> table.remove(endpoint.virtual()));
        CountersFile.Counters last = counters.of(rank);
        earlierSends.addAndGet(last.udSends() + last.rcSends());
        counters.begin(rank);
    }

    private Optional<HostAddress> hostOf(int tree) {
        return treeOf(tree).map(hosts::of);
    }

    /**
     * The rank of {@code run -n} that a process has said it is below, or -1: then it can be told where all of the
     * agent's are on one host.
     */
    private Optional<Integer> treeOf(int said) {
        RankSpan span = facts.span();
        return span.has(said) ? Optional.of(said)
                : facts.layout().hosts(span).size() == 1 ? Optional.of(span.first()) : Optional.empty();
    }

    private static int tableCapacity(int ranks) {
        return Math.clamp((long) ranks * QUEUE_PAIRS_PER_RANK, TABLE_ENTRIES_MIN, RankSpan.MOST_NUMBERS);
    }

    private PmiServer openPmi(PmiState state) throws IOException {
        return state != null
                ? PmiServer.restore(runtime.pmiSocket(), facts.roots(), state, pmiListener())
                : PmiServer.start(runtime.pmiSocket(), "kvs_" + facts.name(), facts.roots(),
                        ProcessMapping.format(facts.layout().ranksPerHost()), pmiListener());
    }

    private PmiListener pmiListener() {
        return new PmiListener() {
            @Override
            public void aborted(int rank, int exitCode) {
                ranks.abort(rank, exitCode);
            }

            @Override
            public void lost(int rank) {
                ranks.lost(rank);
            }

            @Override
            public void contradicted(String why) {
                ranks.end(ExitCode.UNSUPPORTED.value(), why + ": PMI-1 does not allow "
                        + "it"); // the listener, which such a job has, tells it once for all agents
            }

            @Override
            public void refused(int rank, String reason) {
                Messages.error("rank " + rank + " requested an unsupported operation: " + reason, null);
            }
        };
    }

    public ShepherdListener shepherdListener() {
        return new ShepherdListener() {
            @Override
            public void exited(int hostPid, int waitStatus) {
                ranks.exited(hostPid, waitStatus);
            }

            @Override
            public void shepherdLost() {
                ranks.shepherdLost();
            }
        };
    }

    /**
     * The ranks' parent runs.
     *
     * @param agentLibrary {@link org.udckpt.support.config.Installation#agentLibrary}
     */
    public void attach(Shepherd started, Path agentLibrary) throws IOException {
        MountThread.library(agentLibrary);
        shepherd = closers.add(started);
        if (terminal) {
            // before the first rank runs: whoever sees the job's output may signal it
            SignalForwarding.forward(agentLibrary, this::userSignal);
        }
        writeJobFile(started.pid());
    }

    /** The ranks run: takes commands from here on. */
    public void open(JobCommands commands) throws IOException {
        closers.add(CommandServer.start(runtime.commandSocket(), commands));
    }

    /** Closes something together with the job, before what was opened earlier. */
    public <T extends AutoCloseable> T owns(T part) {
        return closers.add(part);
    }

    private void writeJobFile(long shepherdPid) throws IOException {
        long self = ProcessHandle.current().pid();
        new JobRecord(runtime.name(), facts.imageDirectory().toString(), facts.layout().ranks(), facts.command(), self,
                ProcessTimes.start(self),
                shepherdPid, shepherdPid == 0 ? 0 : ProcessTimes.start(shepherdPid), facts.generation())
                .write(runtime.path());
    }

    private void killRanks() {
        signal(SIGKILL);
    }

    private void userSignal(int number) {
        if (SignalForwarding.fromKeys(number) && terminalTaken.getAsBoolean()) {
            return; // the debugger has got it too, as all of the terminal's foreground group have
        }
        userSignals.received(number);
    }

    private void endByForce(int code) {
        ranks.end(code, "an agent received INT (^C) twice");
    }

    /** While this says so, the keys of the terminal that make signals mean somebody else than the job. */
    public void terminal(BooleanSupplier taken) {
        terminalTaken = taken;
    }

    /** To all ranks of this agent. */
    public void signal(int number) {
        try {
            if (shepherd != null) {
                shepherd.signalAll(number);
            }
        } catch (Failure e) {
            Messages.error(e.getMessage(), e); // the shepherd's own end is reported by its reader
        }
    }

    /** Waits for the end of this agent's ranks; returns what their part of the job's exit code is. */
    public int await() throws InterruptedException {
        return ranks.await();
    }

    /** Somebody decided that it ends here, with this code. */
    public void end(int code) {
        askedEnd.decided();
        ranks.end(code, null);
    }

    /** The job ends for what ranks of another agent have done. */
    public void endElsewhere() {
        ranks.endElsewhere();
    }

    /** Before the ranks run: who hears that they end the job. */
    public void onEnd(EndListener listener) {
        endListener = listener;
    }

    /**
     * Whether its end was a failure: it has another code than 0, nobody asked it to end, and somebody still reads what
     * it prints.
     *
     * @param code {@link #await}'s
     */
    public boolean failed(int code) {
        return code != 0 && !askedEnd.explains(code) && !StandardStreams.readerGone();
    }

    /** What close is told when another incarnation of this job follows at once. */
    public void beforeNextRun(Runnable told) {
        beforeNextRun = told;
    }

    /** Closes it, and leaves to the next incarnation what that can do as well. */
    public void closeForNextRun() {
        beforeNextRun.run();
        close();
    }

    public Settings settings() {
        return settings;
    }

    public JobFacts facts() {
        return facts;
    }

    public RuntimeDirectory runtime() {
        return runtime;
    }

    /** The runtime directory that the processes' environment names: that of the job's first incarnation. */
    public String namedRuntime() {
        return facts.namedRuntime() == null ? runtime.path().toString() : facts.namedRuntime();
    }

    /** Which of these ranks' memory was written to since the last checkpoint. */
    public WriteTracking tracking() {
        return tracking;
    }

    public void track(WriteTracking writes) {
        tracking = owns(writes);
    }

    public AddressMap addresses() {
        return addresses;
    }

    /** Keys of the queue pairs of other agents that these ranks have asked for: see {@link AddressAuthority#peers}. */
    public List<Long> peers() {
        return authority.peers();
    }

    /**
     * The job comes from a checkpoint in which these were {@link #peers}: they are in the ranks' table before the gates
     * open.
     */
    public void expectPeers(List<Long> peers) {
        authority.expect(peers, this::known);
    }

    private void known(Endpoint peer) {
        try {
            table.put(peer);
        } catch (IllegalStateException full) {
            Messages.warn("the address of " + peer.virtual() + " will be looked up again when it is needed: "
                    + full.getMessage());
        }
    }

    /**
     * The rank whose host a process is on.
     *
     * @throws Failure when it does not say below which one it is, and there are several hosts
     */
    public int placeOf(LibraryConnection process) {
        return treeOf(process.tree()).orElseThrow(() -> new Failure(ExitCode.UNSUPPORTED,
                process + " has no UDCKPT_RANK in its environment (did a script remove it?): cannot find out on "
                        + "which host it was"));
    }

    /** The job comes from a checkpoint in which these had a verbs device; before any of them can run. */
    public void expect(List<RankNumbers.Rank> restored) {
        restored.forEach(rank -> counters.begin(rank.number()));
        numbers.expect(restored);
    }

    /** The ranks of this moment. */
    public JobRanks jobRanks() {
        return JobRanks.of(facts.launch(), ranks.ranks(), numbers.all());
    }

    /** The processes that have a verbs device, by number. */
    public RankNumbers numbers() {
        return numbers;
    }

    public HostAddresses hosts() {
        return hosts;
    }

    public ControlServer control() {
        return control;
    }

    public PmiServer pmi() {
        return pmi;
    }

    public RankTable ranks() {
        return ranks;
    }

    public Shepherd shepherd() {
        return shepherd;
    }

    /** Work requests that this agent's ranks have sent in this incarnation, over all transports. */
    public long sends() {
        long sends = earlierSends.get();
        for (CountersFile.Counters counted : counters.all()) {
            sends += counted.udSends() + counted.rcSends();
        }
        return sends;
    }

    /**
     * What this agent's ranks have counted of their sends; one of a number that another process has now is not in it.
     */
    public List<CountersFile.Counters> counted() {
        return counters.all();
    }

    /** What a rank of this agent has counted in this incarnation. */
    public CountersFile.Counters counted(int rank) {
        return counters.of(rank);
    }

    /** The memory that still comes in from the checkpoint from which the job was restarted. */
    public Filling filling() {
        return filling;
    }

    public void filling(Filling begun) {
        filling = begun;
    }

    public Path imageDirectory() {
        return facts.imageDirectory();
    }

    @Override
    public void close() {
        ranks.closing();
        closers.close();
    }
}
