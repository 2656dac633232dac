package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;

/** What happens before a checkpoint gets its number. */
@FunctionalInterface
public interface BeforeNumber {
    /** When it throws, there is no checkpoint; the job has not been stopped. */
    void run() throws IOException;
}
