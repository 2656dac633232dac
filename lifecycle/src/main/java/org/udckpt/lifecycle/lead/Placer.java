package org.udckpt.lifecycle.lead;

import java.util.List;
import java.util.function.Function;
import org.udckpt.cluster.Unit;

/** Chooses the hosts of a restarted job's units. */
@FunctionalInterface
public interface Placer {
    /**
     * @param units where they were
     * @param ties  why a unit's ranks stay together, in words
     * @throws org.udckpt.support.report.Failure where they cannot be as the user wants
     */
    List<Unit> place(List<Unit> units, Function<Unit, String> ties);
}
