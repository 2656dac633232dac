package org.udckpt.bench.run;

import java.io.IOException;
import org.udckpt.bench.life.Ended;
import org.udckpt.bench.life.Workplace;

/** A way to run what a workplace is for, once. */
interface Runner {
    /** @throws Ended when it came to its end before what was to be done to it */
    Outcome of(Workplace workplace) throws Ended, IOException, InterruptedException;
}
