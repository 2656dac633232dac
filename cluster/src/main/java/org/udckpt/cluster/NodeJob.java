package org.udckpt.cluster;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.launch.LaunchMode;
import org.udckpt.linux.RawText;
import org.udckpt.process.restore.Relocation;

/**
 * The job to be run on several nodes. Texts are as {@link org.udckpt.linux.RawText} has them.
 *
 * @param name        the job's
 * @param generation  of its incarnation: 0 for the first one
 * @param launch      how each agent starts its ranks
 * @param units       all of them, by number; their ranks are the job's without a gap
 * @param fanOut      of the tree, 2 to 32
 * @param directory   the working directory, absolute
 * @param command     words, the program first
 * @param environment the user's
 * @param image       what it is restored from; null: it is started
 */
public record NodeJob(String name, int generation, LaunchMode launch, List<Unit> units, int fanOut, String directory,
        List<String> command, Map<String, String> environment,
        Image image) {
    /** The lead has a connection of each ({@link org.udckpt.transport.TransportLimits#connections}). */
    private static final int MOST_UNITS = 8_000;

    /**
     * @param directory of the checkpoint, absolute
     * @param number its own
     * @param mac of its manifest: all units restart from exactly that one
     * @param shared paths of files that several units had, as the image has them, and the units that put one back:
     *     several, where it was not one file for all
     * @param moved where the job's files are now: absolute paths, whose links are each host's own
     */
    public record Image(String directory, long number, String mac, Map<String, Set<Integer>> shared, Relocation moved) {
        public Image {
            requireAbsolute("the image", directory);
            if (mac == null || mac.isEmpty()) {
                throw new IllegalArgumentException("an image without identification");
            }
            shared = Map.copyOf(shared);
            if (moved == null) {
                throw new IllegalArgumentException("an image without locations of its files");
            }
        }

        /** Paths of files that other units than this one put back. @param here where files are on one host */
        public Set<String> elsewhere(int unit, Relocation here) {
            return shared.entrySet().stream().filter(file -> !file.getValue().contains(unit))
                    .map(file -> here.path(file.getKey())).collect(Collectors.toSet());
        }
    }

    public NodeJob {
        if (name == null || name.isEmpty() || generation < 0 || launch == null || fanOut < 2 || fanOut > 32
                || command == null || environment == null) {
            throw new IllegalArgumentException(
                    "a job '" + name + "' of generation " + generation + " and fan-out " + fanOut);
        }
        requireAbsolute("the working directory", directory);
        if (units == null || units.isEmpty() || units.size() > MOST_UNITS) {
            throw new IllegalArgumentException("a job of " + (units == null ? 0 : units.size())
                    + " units, not of 1 to " + MOST_UNITS);
        }
        units = List.copyOf(units);
        command = List.copyOf(command);
        environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment)); // in its order
        int next = 0;
        for (Unit unit : units) {
            if (unit.first() != next) {
                throw new IllegalArgumentException("unit " + unit.name() + " begins at rank " + unit.first()
                        + ", and the one before ends at " + next);
            }
            next = Math.addExact(next, unit.count());
        }
    }

    private static void requireAbsolute(String what, String path) {
        if (path == null || !path.startsWith("/")) {
            throw new IllegalArgumentException(what + " '" + path + "' is not an absolute path");
        }
    }

    /** Number of ranks of all units. */
    public int ranks() {
        Unit last = units.getLast();
        return last.first() + last.count();
    }

    /** Number of nodes of the tree: the lead and one for each unit. */
    public int nodes() {
        return units.size() + 1;
    }

    /** The tree's number of a unit. */
    public static int node(int unit) {
        return unit + 1;
    }

    /** The unit of a node, which is not the lead. */
    public static int unit(int node) {
        return node - 1;
    }
}
