package org.udckpt.job.life;

import org.udckpt.job.agent.Job;

/**
 * A unit whose processes are there again, behind closed gates.
 *
 * @param files   that were put back
 * @param revival of its verbs objects, which are made again but not connected
 */
record RestoredUnit(Job job, RestartFiles files, Revival revival) implements AutoCloseable {
    /** All ranks of the job are connected. */
    void open() {
        revival.open();
        files.stay();
        revival.follow();
    }

    /** The files are put as they were, unless the ranks have run. */
    @Override
    public void close() {
        job.close();
        files.close();
    }
}
