package org.udckpt.bench.run;

import java.io.IOException;
import org.udckpt.bench.job.EndedTooEarly;
import org.udckpt.bench.job.Workplace;

/** A way to run what a workplace is for, once. */
interface Runner {
    /** @throws EndedTooEarly when it came to its end before what was to be done to it */
    RunResult of(Workplace workplace) throws EndedTooEarly, IOException, InterruptedException;
}
