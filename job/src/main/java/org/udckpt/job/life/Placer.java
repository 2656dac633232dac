package org.udckpt.job.life;

import java.util.List;
import java.util.function.Function;
import org.udckpt.job.nodes.Unit;

/** Who says on which hosts the units of a restarted job are to be. */
@FunctionalInterface
public interface Placer {
    /**
     * @param units where they were
     * @param ties  why a unit's ranks stay together, in words
     * @throws org.udckpt.job.report.Failure where they cannot be as the user wants
     */
    List<Unit> place(List<Unit> units, Function<Unit, String> ties);
}
