package org.udckpt.lifecycle.lead;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.udckpt.cluster.Placement;
import org.udckpt.cluster.SpareHosts;
import org.udckpt.cluster.Unit;
import org.udckpt.lifecycle.job.OwnCheckpoints;
import org.udckpt.store.ImageLocation;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Messages;

/**
 * What this process, a lead that the guard has started in place of a lost one, has been left of it.
 *
 * @param name   the job's
 * @param before the newest checkpoint that there was when the job began
 * @param newest its own newest one when the lead was lost, or the one that it began with
 * @param hosts  that were lost
 */
public record LostLead(String name, long before, long newest, Set<String> hosts) {
    static final String VARIABLE = "UDCKPT_LOST_LEAD";

    /** Empty: this one is the job's first. */
    public static Optional<LostLead> ofThisProcess() {
        return parse(System.getenv(VARIABLE));
    }

    static Optional<LostLead> parse(String text) {
        if (text == null) {
            return Optional.empty();
        }
        Map<String, String> words = new TreeMap<>();
        for (String line : text.split("\n")) {
            int space = line.indexOf(' ');
            words.put(space < 0 ? line : line.substring(0, space), space < 0 ? "" : line.substring(space + 1));
        }
        Set<String> hosts = new TreeSet<>(List.of(words.getOrDefault("lost", "").split(",")));
        hosts.remove("");
        return Optional.of(new LostLead(words.get("name"), Long.parseLong(words.get("before")),
                Long.parseLong(words.get("newest")), hosts));
    }

    /**
     * The job's newest complete checkpoint; empty: none of those that it has taken is complete.
     *
     * @param images where they are
     */
    public Optional<ImageLocation> checkpoint(Settings settings, Path images) {
        List<ImageLocation> complete = OwnCheckpoints.since(settings, images, before).complete(name);
        if (complete.isEmpty()) {
            return Optional.empty();
        }
        Messages.info("job " + name + " continues from " + complete.getLast().entry().directory());
        return Optional.of(complete.getLast());
    }

    /** As {@code place} says, but not on hosts that are lost. */
    public Placer place(Settings settings, Placer place) {
        return (units, ties) -> {
            List<Unit> placed = place.place(units, ties);
            List<String> spares = new ArrayList<>(SpareHosts.names(settings));
            placed.forEach(unit -> spares.remove(unit.host()));
            return Placement.without(hosts, placed, spares);
        };
    }

    /** The lost hosts, as a set that the caller may add to. */
    public static Set<String> lostHosts() {
        Set<String> hosts = ConcurrentHashMap.newKeySet();
        ofThisProcess().ifPresent(lost -> hosts.addAll(lost.hosts()));
        return hosts;
    }
}
