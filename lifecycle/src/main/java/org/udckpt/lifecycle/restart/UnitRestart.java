package org.udckpt.lifecycle.restart;

import java.io.IOException;
import org.udckpt.agent.Job;

/**
 * The restart of one unit of a job of several nodes, in steps: all units take one before any takes the next. Its files
 * are put back already.
 */
public final class UnitRestart implements AutoCloseable {
    /** What makes the processes. */
    @FunctionalInterface
    interface Reviver {
        VerbsReconnect revive() throws IOException, InterruptedException;
    }

    private final Job job;
    private final RestoredFilesTransaction files;
    private final Reviver reviver;
    private final RestartPhases phases;
    private VerbsReconnect reconnect;

    UnitRestart(Job job, RestartFiles files, Reviver reviver, RestartPhases phases) {
        this.job = job;
        this.files = new RestoredFilesTransaction(files);
        this.reviver = reviver;
        this.phases = phases;
        phases.reached("files");
    }

    public Job job() {
        return job;
    }

    /**
     * The files of all units are put back: the processes are there, behind closed gates, with their verbs objects made
     * again.
     *
     * @return what the time went into, for people
     */
    public String revive() throws IOException, InterruptedException {
        phases.goOn();
        reconnect = reviver.revive();
        reconnect.rebuild();
        phases.reached("verbs");
        return phases.toString();
    }

    /** All addresses of the job are known: queue pairs that had a peer get it again. */
    public void connect() {
        reconnect.connect();
    }

    /** All are connected: the gates open. */
    public void open() {
        reconnect.open();
        files.opened();
        reconnect.follow();
    }

    /** Whether the whole job runs, so that its files stay as they were put back. */
    public void begun(boolean all) {
        files.said(all);
    }

    /** The files are put as they were, unless the job has run. */
    @Override
    public void close() {
        job.close();
        files.close();
    }
}
