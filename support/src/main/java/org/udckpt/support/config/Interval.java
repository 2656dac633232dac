package org.udckpt.support.config;

import java.time.Duration;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** How often a job takes checkpoints by itself: what {@code interval} and {@code mtbf} say together. */
public sealed interface Interval {
    String AUTO = "auto";

    /** None but those that are asked for. */
    record Never() implements Interval {}

    /** @param period from the beginning of one checkpoint to that of the next */
    record Fixed(Duration period) implements Interval {}

    /**
     * @param mtbf mean time between failures of the whole job, from which and from measured costs the interval follows
     *     (docs/user/checkpoints.md)
     */
    record Adaptive(Duration mtbf) implements Interval {}

    /**
     * A mean time between failures alone means {@code auto}; an interval that was given, also 0, is what the user wants
     * all the same.
     */
    static Interval of(Settings settings) {
        Duration mtbf = settings.duration(Option.MTBF);
        boolean given = !settings.value(Option.INTERVAL).origin().equals(Settings.DEFAULT);
        if (settings.text(Option.INTERVAL).equals(AUTO) || !given && !mtbf.isZero()) {
            if (mtbf.isZero()) {
                throw new Failure(ExitCode.USAGE, settings.value(Option.INTERVAL).origin()
                        + ": auto needs the mean time between failures: give --mtbf too");
            }
            return new Adaptive(mtbf);
        }
        Duration period = settings.duration(Option.INTERVAL);
        return period.isZero() ? new Never() : new Fixed(period);
    }
}
