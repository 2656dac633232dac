package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.udckpt.agent.Job;
import org.udckpt.agent.RankTable;
import org.udckpt.launch.pmi.PmiState;
import org.udckpt.linux.RealTimeThreads;
import org.udckpt.process.capture.AnsweringFiles;
import org.udckpt.process.capture.Capture;
import org.udckpt.process.capture.CaptureRequest;
import org.udckpt.process.capture.GrowingFiles;
import org.udckpt.process.capture.TimedCalls;
import org.udckpt.process.files.FileLeases;
import org.udckpt.process.files.FileRequest;
import org.udckpt.process.files.HotFiles;
import org.udckpt.process.files.Prefixes;
import org.udckpt.store.NodeState;
import org.udckpt.support.config.ExternalConnections;
import org.udckpt.support.config.Option;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.ud.LibraryConnection;
import org.udckpt.ud.Message;

/**
 * One attempt to halt the ranks of this agent, in steps: {@link #suspend}, {@link #settle}, {@link #silence},
 * {@link #snapshot}, {@link #resume}. Where the job has ranks elsewhere, all of them take a step before any takes the
 * next. {@link #close} without a resume lets the ranks run again from whatever step was reached.
 */
final class QuiesceSession implements AutoCloseable {
    private final Job job;
    private final TimedCalls calls;
    private final CaptureRequest.StandardStreams streams =
            CaptureRequest.StandardStreams.of((int) ProcessHandle.current().pid());
    private final List<LibraryConnection> connections;
    private final FileLeases leases;
    private final FileRequest files;
    private final Prefixes growing;
    private final Gates gates;
    private final CudaSuspension cuda;
    private Map<LibraryConnection, Message.Quiesced> owned;
    private RealTimeThreads realTime;
    private boolean resumed;

    /**
     * @param hot files that have to be copied in the stop
     * @param calls of threads at earlier stops of this incarnation
     * @param tracers what becomes of debuggers
     * @throws Failure 75 when a rank has ended, or is being traced by somebody else
     * @throws org.udckpt.process.files.FilesRefused when a file system on which the job has something open does not
     *     answer
     */
    QuiesceSession(Job job, HotFiles hot, TimedCalls calls, Tracers tracers) {
        this.job = job;
        this.calls = calls;
        if (!job.ranks().allAlive()) {
            throw new Failure(ExitCode.BUSY,
                    "a rank of job " + job.facts().name() + " has ended: it is too late for a checkpoint");
        }
        tracers.look(job.facts().launch(), job.ranks().ranks());
        this.cuda = CudaProcesses.of(job,
                AnsweringFiles.ask(job.ranks().ranks().stream().map(RankTable.Rank::hostPid).toList()));
        this.leases = FileLeases.now();
        this.files = JobFiles.request(job, hot);
        // the ranks run: they are not stopped for it, nor do they wait for each other
        this.growing = GrowingFiles.read(job.ranks().ranks().stream().map(RankTable.Rank::hostPid).toList(), files,
                leases);
        this.connections = List.copyOf(job.control().connections()); // not before: the reading may take seconds
        this.gates = new Gates(connections, job.settings().duration(Option.QUIESCE_TIMEOUT));
    }

    /**
     * Closes the gates of all processes that have a device. Where ranks use CUDA, these are locked instead, and the
     * gates stay open until {@link #settle}: a kernel that is waited for may wait for what another rank sends.
     */
    void suspend() {
        if (cuda.isEmpty()) {
            closeGates();
        } else {
            cuda.lock();
        }
    }

    int usingGpus() {
        return cuda.processes();
    }

    private void closeGates() {
        realTime = RealTimeThreads.begin();
        owned = gates.close();
    }

    /** Returns when all that these ranks have sent has arrived. */
    void settle() {
        if (owned == null) {
            closeGates();
        }
        gates.settle();
    }

    /**
     * Drains the devices; call it when all ranks of the job have settled. False: a process has opened its first device
     * meanwhile; try again.
     */
    boolean drain() {
        gates.drain();
        // the capture would find it too, but only with the job stopped
        return connections.containsAll(job.control().connections());
    }

    /**
     * Makes copies of the ranks' memory, and reads all else. The result has no times yet.
     *
     * @param traffic count of PMI messages, taken when none was under way; returns null if it has changed since, since
     *     the image would not have those messages
     * @param standing these ranks stand still until {@link Capture#resume}: the job has others elsewhere, or they are
     *     to do nothing any more
     * @throws org.udckpt.process.capture.CaptureFailed a later attempt may succeed
     */
    NodeSnapshot snapshot(long traffic, boolean standing) throws IOException {
        cuda.checkpoint();
        PmiState pmi = job.pmi().state();
        NodeState agent = new NodeState(job.namedRuntime(), pmi, job.addresses().copy(), job.peers());
        Instant now = Instant.now();
        var numbered = job.numbers().all(); // of all that will be in the image: some may end a moment after the stop
        CaptureRequest request = new CaptureRequest(RankRoots.of(job.facts().launch(), job.ranks().ranks(), owned),
                streams, ExternalConnections.of(job.settings()) == ExternalConnections.CLOSE,
                files, leases, calls, job.tracking(), job.shepherd().program());
        job.tracking().begin();
        Capture capture = Capture.standing(request, growing);
        try {
            if (!standing) {
                capture.resume();
            }
            for (int pid : capture.shepherdsPids()) {
                job.shepherd().expect(pid);
            }
            if (job.pmi().isQuietSince(traffic)) {
                return new NodeSnapshot(capture, agent, numbered, now, List.of(), cuda, null);
            }
        } catch (RuntimeException e) {
            capture.close();
            throw e;
        }
        capture.close();
        return null;
    }

    /**
     * Opens the gates, and has CUDA go on; returns how long each rank waited for its gate, in nanoseconds by rank.
     *
     * @throws Failure where the CUDA state of a rank did not come back: it has been ended
     */
    Map<Integer, Long> resume() {
        Map<Integer, Long> waited = gates.open();
        try {
            cuda.goOn();
        } finally {
            over();
        }
        return waited;
    }

    /** The ranks have ended where they stood: no thread waits for a gate. */
    synchronized void over() {
        resumed = true;
        endRealTime();
    }

    /** The agent's threads are ordinary again: nobody waits for the ranks to go on. */
    synchronized void endRealTime() {
        if (realTime != null) {
            realTime.close();
            realTime = null;
        }
    }

    /** From any thread, also from several. */
    @Override
    public synchronized void close() {
        try {
            if (!resumed) {
                resumed = true;
                gates.openAfterFailure();
                cuda.undo();
            }
        } finally {
            endRealTime();
        }
    }
}
