package org.udckpt.lifecycle;

import org.udckpt.process.restore.Relocation;
import org.udckpt.store.ImageLocation;

/** One incarnation of a job, from its start or restart to the end of its ranks. */
public interface JobRun extends AutoCloseable {
    /** The job's name. */
    String name();

    /** Waits for the ranks' end; returns the job's exit code. */
    int await() throws InterruptedException;

    /** Ends it with this code. */
    void end(int code);

    /** Whether its end was a failure. @param code {@link #await}'s */
    boolean failed(int code);

    /** The job's next incarnation, when this one is closed. @param relocation where its files are now */
    JobRun again(ImageLocation location, Relocation relocation) throws InterruptedException;

    /** Closes it, and leaves to the next incarnation what that can do as well. */
    void closeForNextRun();

    @Override
    void close();
}
