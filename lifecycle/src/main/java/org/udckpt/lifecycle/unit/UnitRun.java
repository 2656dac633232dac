package org.udckpt.lifecycle.unit;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.udckpt.address.DatagramKey;
import org.udckpt.address.RankSpan;
import org.udckpt.agent.Job;
import org.udckpt.agent.JobContext;
import org.udckpt.agent.JobFacts;
import org.udckpt.cluster.AgentListener;
import org.udckpt.cluster.ControlMessage;
import org.udckpt.cluster.NodeAuthority;
import org.udckpt.cluster.NodeCounts;
import org.udckpt.cluster.NodeHandle;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.NodePmi;
import org.udckpt.cluster.NodeSpecification;
import org.udckpt.cluster.Unit;
import org.udckpt.coordination.lookup.ControlChannel;
import org.udckpt.coordination.lookup.Totals;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.protocol.Request;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.launch.HostLayout;
import org.udckpt.lifecycle.checkpoint.UnitCheckpoints;
import org.udckpt.lifecycle.checkpoint.UnitOrder;
import org.udckpt.lifecycle.job.JobStorage;
import org.udckpt.linux.RawText;
import org.udckpt.store.ImageOptions;
import org.udckpt.store.ImageTrust;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.CodedText;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * A unit's incarnation in its agent: does with its ranks what the coordinator asks for, one thing after the other in a
 * thread of its own, and tells the lead of their end. Ranks do not outlive their agent, nor its way to the lead: others
 * of the job wait for them elsewhere, or have been restarted.
 */
public final class UnitRun implements AgentListener, ControlChannel.Reader {
    private static final long CLOSE_SECONDS = 15; // less than the starter gives an agent to end

    private final Installation installation;
    private final NodeSpecification specification;
    private final Unit unit;
    private final int number;
    private final Settings settings;
    private final DatagramKey key;
    private final IntConsumer endAgent;
    private final ExecutorService work =
            Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("unit-work").factory());
    private final ExecutorService aside = Executors.newVirtualThreadPerTaskExecutor();
    private NodeHandle node;
    private ControlChannel control;
    private NodeAuthority authority;
    private NodePmi pmi;
    private Totals totals;
    private UnitParts parts;
    private volatile UnitStart start;
    private volatile UnitCounts counts;
    private volatile UnitTables tables;
    private volatile boolean ended;
    private WriterOptions options;
    private boolean reviving;
    private ControlMessage.Ends endMeanwhile;

    public UnitRun(Installation installation, NodeSpecification specification, int unit, Settings settings,
            DatagramKey key, IntConsumer end) {
        this.installation = installation;
        this.specification = specification;
        this.number = unit;
        this.unit = specification.job().units().get(unit);
        // what all share is saved once; of what their ranks have open all save their own
        this.settings = unit == 0 ? settings : settings.flag(Option.FILES, "");
        this.key = key;
        this.endAgent = end;
    }

    @Override
    public void joined(NodeHandle handle) {
        node = handle;
        control = handle.part().control(this);
        totals = handle.part().totals(NodeCounts.NONE.encode(), _ -> {});
        JobStorage.parts(settings, specification.job().name())
                .ifPresent(own -> ImageTrust.check(settings, own.directory()));
        authority = new NodeAuthority(handle, specification.job(), facts().span(),
                RuntimeDirectory.base(settings).resolve(runtime() + ".shelf"));
        pmi = new NodePmi(handle);
        parts = new UnitParts(number, lookedAfter(), unit.host(), this::options,
                message -> node.thread().execute(now -> control.toRoot(message.encode(), false, now)));
    }

    /** Writer options of all of the unit's images and their copies. */
    private synchronized WriterOptions options() {
        if (options == null) {
            options = ImageOptions.of(settings);
        }
        return options;
    }

    /**
     * Of the units on a host the first looks after what units that are elsewhere now have left on it; where all "hosts"
     * are one machine nobody has left it.
     */
    private Set<Integer> lookedAfter() {
        List<Unit> units = specification.job().units();
        Set<Integer> here = new TreeSet<>();
        for (int each = 0; each < units.size(); each++) {
            if (units.get(each).host().equals(unit.host())) {
                here.add(each);
            }
        }
        return specification.lead().isLoopback() || number != Collections.min(here) ? Set.of() : here;
    }

    private String runtime() {
        return runtime(specification.job(), unit);
    }

    /** The name of a unit's runtime directory. */
    public static String runtime(NodeJob job, Unit unit) {
        return job.name() + "." + unit.name();
    }

    private JobFacts facts() {
        var job = specification.job();
        HostLayout layout = new HostLayout(
                job.units().stream().map(each -> new HostLayout.Host(each.name(), each.count())).toList());
        return new JobFacts(job.name(), Path.of(settings.text(Option.DIR)), job.launch(), layout,
                new RankSpan(unit.first(), unit.count(), job.ranks()),
                job.command().stream().map(RawText::shown).toList(), job.generation(), null);
    }

    @Override
    public void begin(Request request, long now) {
        if (request.op() == Op.ABORT || request.op() == Op.END) {
            UnitStart begun = start;
            aside.submit(() -> cancel(begun, request.op()));
        }
        work.submit(() -> {
            long[] counts = new long[0];
            String failure = null;
            Messages.debugStep("unit " + unit.name() + " begins " + name(request.op()));
            try {
                counts = doIt(request);
            } catch (IOException | InterruptedException | RuntimeException e) {
                Failure said = Failure.of(name(request.op()), e);
                Messages.debugTrace(request + " on " + unit.name(), said);
                failure = CodedText.of(said);
            } catch (Error e) {
                Messages.error("unit " + unit.name() + ": " + e, e);
                failure = CodedText.of(Failure.of(request.op().name(), new IOException(e)));
            }
            String told = failure;
            long[] counted = counts;
            node.thread().execute(when -> node.part().participant().done(request, told, counted, when));
        });
    }

    private static String name(Op op) {
        return op.name().toLowerCase(Locale.ROOT);
    }

    /** Cancels the operation that is under way, which would take long, or for ever. */
    private void cancel(UnitStart begun, Op op) {
        if (begun == null) {
            return;
        }
        if (op == Op.ABORT) {
            begun.checkpoints().cancel();
        } else {
            begun.end();
        }
    }

    private long[] doIt(Request request) throws IOException, InterruptedException {
        switch (request.op()) {
            case FILES -> begin(UnitStart::again);
            case START -> {
                if (specification.job().image() == null) {
                    begin(UnitStart::first);
                } else {
                    ControlMessage.ToLead revived = new ControlMessage.Revived(revive());
                    authority.tellKeys(start.job().runtime().path());
                    node.thread().execute(now -> control.toRoot(revived.encode(), false, now)); // before the answer
                }
                Job job = start.job();
                tables = new UnitTables(node.tables(), job, number);
                counts = new UnitCounts(job, start.checkpoints(), totals, node.thread());
                Thread.ofVirtual().name("unit-end").start(() -> awaitEnd(job));
            }
            case CONNECT -> start.connect();
            case OPEN -> start.open();
            case SUSPEND -> {
                return new long[]{checkpoints().suspend(UnitOrder.decode(request.order()))};
            }
            case DRAIN -> {
                if (request.round() == 0) {
                    checkpoints().settle();
                }
                checkpoints().quiet();
                return pmi.counts();
            }
            case SNAPSHOT -> checkpoints().snapshot();
            case RESUME -> checkpoints().resume();
            case WRITE -> {
                ControlMessage.ToLead report = new ControlMessage.Report(checkpoints().write());
                node.thread().execute(now -> control.toRoot(report.encode(), false, now)); // before the answer
            }
            case COMMIT -> checkpoints().commit();
            case ABORT -> {
                if (start != null) {
                    checkpoints().abort();
                }
            }
            case END -> end();
            case EXCHANGE -> throw new IllegalStateException("tables are no work of ranks");
        }
        return new long[0];
    }

    private UnitCheckpoints checkpoints() {
        return start.checkpoints();
    }

    /** {@link UnitStart#first} or {@link UnitStart#again}. */
    @FunctionalInterface
    private interface Beginning {
        UnitStart begin(Installation installation, NodeJob nodes, int number, Settings settings, WriterOptions options,
                JobFacts facts, JobContext around, Consumer<Job> ready)
                throws IOException;
    }

    private void begin(Beginning how) throws IOException {
        UnitStart begun =
                how.begin(installation, specification.job(), number, settings, options(), facts(),
                        new JobContext(runtime(), Path.of(specification.job().directory()),
                                specification.job().environment(), false, machines(), authority::of, key),
                        this::prepared);
        start = begun;
        if (ended) {
            begun.end();
        }
    }

    /** Before the first rank runs. */
    private void prepared(Job job) {
        requireWays(job);
        job.shepherd().bound();
        job.onEnd((code, why) -> ends(new ControlMessage.Ends(code, why)));
        if (!job.facts().span().isAll()) { // else nobody is elsewhere
            pmi.serve(job.pmi());
        }
    }

    /** What went into it, for people. If it fails, that is the answer, and not what becomes of the processes then. */
    private String revive() throws IOException, InterruptedException {
        synchronized (this) {
            reviving = true;
        }
        String phases;
        try {
            phases = start.revive();
        } catch (Failure e) {
            synchronized (this) {
                throw endMeanwhile == null || e.code() != ExitCode.TIMEOUT ? e
                        : new Failure(e.code(), endMeanwhile.why() + ": " + e.getMessage(), e);
            }
        }
        synchronized (this) {
            reviving = false;
            if (endMeanwhile != null) {
                tell(endMeanwhile);
            }
        }
        return phases;
    }

    private synchronized void ends(ControlMessage.Ends message) {
        if (!reviving) {
            tell(message);
        } else if (endMeanwhile == null) {
            endMeanwhile = message;
        }
    }

    /** That the ranks of the job's other hosts can be reached at the addresses that these ones are given. */
    private void requireWays(Job job) {
        if (job.facts().span().isAll()) {
            return;
        }
        if (job.hosts().soft()) {
            NetworkCheck.requireNet(NetworkCheck.net(specification.job().environment()),
                    specification.lead().isLoopback());
        }
    }

    /** Where the units are; of the starter "local" all on one, whatever their hosts are called. */
    private List<String> machines() {
        boolean one = specification.lead().isLoopback();
        return specification.job().units().stream().map(each -> one ? "" : each.host()).toList();
    }

    /** Behind this unit's own steps. */
    private void begun(boolean all) {
        try {
            if (start != null) {
                start.begun(all);
            }
        } catch (RuntimeException e) {
            Messages.error("unit " + unit.name() + ": the job's files: " + e.getMessage(), e);
        }
    }

    private void awaitEnd(Job job) {
        try {
            tell(new ControlMessage.Ended(job.await()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void tell(ControlMessage.ToLead message) {
        node.thread().execute(now -> control.toRoot(message.encode(), true, now));
    }

    private void end() throws InterruptedException {
        ended = true;
        UnitStart begun = start;
        if (begun != null) {
            begun.end();
            if (!begun.job().ranks().allStarted()) {
                return; // it failed before it had all of its ranks: what there is ends with the agent
            }
            // before the answer, behind which no code counts any more
            tell(new ControlMessage.Ended(begun.job().await()));
        }
    }

    @Override
    public void fromNode(int from, byte[] message, long now) throws MalformedMessage {
        throw new MalformedMessage("protocol error: node " + from + " sent a message to unit " + unit.name());
    }

    @Override
    public void fromRoot(byte[] bytes, long now) throws MalformedMessage {
        switch (ControlMessage.fromLead(bytes)) {
            case ControlMessage.Signal signal -> {
                UnitStart begun = start;
                if (begun != null) {
                    begun.job().signal(signal.number());
                }
            }
            case ControlMessage.Begun begun -> work.submit(() -> begun(begun.all()));
            case ControlMessage.Copy copy -> parts.copy(copy);
            case ControlMessage.NoCopy copy -> parts.giveUp(copy);
            case ControlMessage.Stay stay -> parts.stay(stay);
            case ControlMessage.Tell asked -> {
                UnitTables telling = tables;
                if (telling != null) { // else there are no ranks yet
                    telling.tell(asked);
                }
            }
        }
    }

    @Override
    public void over(String why, long inDoubt, long now) {
        Messages.error("unit " + unit.name() + ": " + why + "; its ranks are ended" + (inDoubt == 0 ? ""
                : ", and only the lead knows whether checkpoint " + inDoubt + " is complete"), null);
        ended = true;
        aside.submit(() -> {
            UnitStart begun = start;
            if (begun != null) {
                begun.end();
            }
            work.submit(() -> endAgent.accept(ExitCode.IO.value())); // behind what is under way
        });
    }

    @Override
    public void close() {
        ended = true;
        parts.end();
        work.shutdown();
        try {
            if (!work.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                // files are being put back, say: half of them would stay
                Messages.error("unit " + unit.name() + ": the current request did not end within " + CLOSE_SECONDS
                        + " s", null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (counts != null) {
            counts.close();
        }
        UnitStart begun = start;
        if (begun != null) {
            begun.close(); // puts files back: before what may hang
        }
        parts.close();
        aside.shutdown();
        authority.close();
    }
}
