package org.udckpt.cluster;

/**
 * Ranks that live and are restored together: those that shared a host in the job's first incarnation. Unit u is node u
 * + 1 of the job's tree, and of an image's nodes the one of index u.
 *
 * @param name of the virtual host that its ranks see; different for each unit
 * @param host where it is to run: a name for the starter. Several units may be on one host
 * @param first number of its first rank
 * @param count of its ranks, from 1
 */
public record Unit(String name, String host, int first, int count) {
    public Unit {
        if (name == null || name.isEmpty() || host == null || !host.matches("[A-Za-z0-9][A-Za-z0-9._:%-]*") || first < 0
                || count < 1) {
            throw new IllegalArgumentException(
                    "a unit '" + name + "' on host '" + host + "' with " + count + " ranks from " + first);
        }
    }

    /** The same on another host. */
    public Unit on(String other) {
        return new Unit(name, other, first, count);
    }

    /** Whether a rank is its. */
    public boolean has(int rank) {
        return rank >= first && rank < first + count;
    }

    /** For people: rank 3, or ranks 0 to 3. */
    public String ranks() {
        return count == 1 ? "rank " + first : "ranks " + first + " to " + (first + count - 1);
    }
}
