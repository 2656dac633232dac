package org.udckpt.lifecycle.lead;

import java.util.List;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.Unit;

/** What units are called where people read of them: one that has a host for itself like that. */
final class UnitNames {
    private UnitNames() {}

    static List<String> of(NodeJob job) {
        return job.units().stream().map(UnitNames::name).toList();
    }

    /** In a sentence. */
    static String place(Unit unit) {
        return hasHost(unit) ? "host " + unit.host() : name(unit);
    }

    private static String name(Unit unit) {
        return hasHost(unit) ? unit.host() : unit.name() + " on host " + unit.host();
    }

    private static boolean hasHost(Unit unit) {
        return unit.name().equals(unit.host());
    }
}
