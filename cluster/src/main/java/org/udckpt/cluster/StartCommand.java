package org.udckpt.cluster;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A command that starts agents.
 *
 * @param words to be executed here
 * @param units of its agents, in the order of its processes
 * @param where for the user: the hosts
 */
record StartCommand(List<String> words, List<Integer> units, String where) {
    private static final int SHOWN = 8;

    StartCommand {
        words = List.copyOf(words);
        units = List.copyOf(units);
    }

    /** Whether all of standard input is for one agent, so that what follows its specification is its own. */
    boolean isOfOne() {
        return units.size() == 1;
    }

    /** For the user. */
    String shown() {
        return String.join(" ", words);
    }

    /** For the user: which agents, and where. */
    String agents() {
        return agents(units) + " on " + where;
    }

    static String agents(List<Integer> units) {
        String numbers = units.stream().limit(SHOWN).map(String::valueOf).collect(Collectors.joining(", "));
        return (units.size() == 1 ? "the agent of unit " : "the agents of units ") + numbers
                + (units.size() > SHOWN ? " and " + (units.size() - SHOWN) + " more" : "");
    }
}
