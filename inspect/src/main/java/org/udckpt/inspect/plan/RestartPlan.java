package org.udckpt.inspect.plan;

import java.util.List;
import org.udckpt.process.files.RolledBack;

/**
 * What a restart would do.
 *
 * @param checkpoint  its directory
 * @param job         the name under which it would run
 * @param incarnation its number, 1 for the first restart
 * @param nodes       how many agents' parts of the image have been read
 * @param bytes       that the image holds
 * @param moves       by rank
 * @param files       that would be others than they are, as this host sees them now
 * @param unseen      units whose files and names are not here as they have to be
 */
public record RestartPlan(String checkpoint, String job, int incarnation, int nodes, long bytes, List<Move> moves,
        List<Change> files, List<Unseen> unseen) {
    /** A file. @param unit that puts it back; -1: one agent does all */
    public record Change(int unit, RolledBack file) {}

    /** @param why a restart of the unit on this host would be refused; its own host is asked at the restart */
    public record Unseen(int unit, String host, String why) {}
}
