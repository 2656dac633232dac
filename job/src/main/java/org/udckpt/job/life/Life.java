package org.udckpt.job.life;

import org.udckpt.job.store.ImageLocation;
import org.udckpt.process.restore.Relocation;

/** One life of a job, from its start or restart to the end of its ranks. */
public interface Life extends AutoCloseable {
    /** The job's name. */
    String name();

    /** Waits for the ranks' end; returns the job's exit code. */
    int await() throws InterruptedException;

    /** Ends it with this code. */
    void end(int code);

    /** Whether its end was a failure. @param code {@link #await}'s */
    boolean failed(int code);

    /** The job's next life, when this one is closed. @param relocation where its files are now */
    Life again(ImageLocation location, Relocation relocation) throws InterruptedException;

    /** Closes it, and leaves to the next life what that can do as well. */
    void closeForNextLife();

    @Override
    void close();
}
