package org.udckpt.lifecycle.lead;

import java.util.List;
import java.util.function.Function;
import org.udckpt.cluster.Unit;

/** Who says on which hosts the units of a restarted job are to be. */
@FunctionalInterface
public interface Placer {
    /**
     * @param units where they were
     * @param ties  why a unit's ranks stay together, in words
     * @throws org.udckpt.support.report.Failure where they cannot be as the user wants
     */
    List<Unit> place(List<Unit> units, Function<Unit, String> ties);
}
