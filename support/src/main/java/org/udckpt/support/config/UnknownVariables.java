package org.udckpt.support.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Finds {@code UDCKPT_*} variables that nothing reads: most likely a slip of the pen. */
final class UnknownVariables {
    /**
     * Read by libudckpt.so and the soft fabric (docs/reference/control-protocol.md), by the udckpt script and
     * udckpt-guard, or by the tests.
     */
    private static final Set<String> NATIVE = Set.of(
            "UDCKPT_RUNTIME_DIR", "UDCKPT_RANK", "UDCKPT_SOFT_LID", "UDCKPT_SOFT_QPNS", "UDCKPT_SOFT_DEVICES",
            "UDCKPT_SOFT_PORTS",
            "UDCKPT_VIRTUALIZE", "UDCKPT_DATA_PATH", "UDCKPT_LENDING",
            "UDCKPT_SOFT_LOSS", "UDCKPT_SOFT_DUPLICATE", "UDCKPT_SOFT_REORDER", "UDCKPT_SOFT_SEED", "UDCKPT_SOFT_KEYS",
            "UDCKPT_SOFT_TAGS", "UDCKPT_SOFT_NET", "UDCKPT_HOST_NUMBER",
            "UDCKPT_HOME", "UDCKPT_JAVA", "UDCKPT_NO_BUILD", "UDCKPT_LC_ALL", "UDCKPT_LC_SET",
            "UDCKPT_SHELL_OPEN_FILES", "UDCKPT_DEBUG", "UDCKPT_LOG", "UDCKPT_KEY_FILE", "UDCKPT_TEST_SEED",
            "UDCKPT_GUARD", "UDCKPT_LOST_LEAD");

    /** Variables with the place of a program that `udckpt bench run` measures (bench/workloads). */
    private static final Set<String> BROUGHT = Set.of("UDCKPT_COMD", "UDCKPT_HPCG", "UDCKPT_IMB", "UDCKPT_LEANMD",
            "UDCKPT_MINIMD", "UDCKPT_MINIMD_INPUT", "UDCKPT_NAMD",
            "UDCKPT_MVAPICH", "UDCKPT_NAMD_INPUT", "UDCKPT_NPB", "UDCKPT_OSU");

    private UnknownVariables() {}

    static List<String> warnings(Collection<String> variables) {
        Set<String> known = new TreeSet<>(NATIVE);
        known.addAll(BROUGHT);
        for (Option option : Option.values()) {
            known.add(option.variable());
            known.add(option.formerVariable());
        }
        List<String> warnings = new ArrayList<>();
        for (String variable : new TreeSet<>(variables)) {
            if (variable.startsWith("UDCKPT_") && !known.contains(variable)) {
                warnings.add("unknown variable " + variable + "; did you mean " + nearest(variable, known) + "?");
            }
        }
        return warnings;
    }

    private static String nearest(String name, Set<String> known) {
        String best = null;
        int least = Integer.MAX_VALUE;
        for (String candidate : known) {
            int distance = distance(name, candidate);
            if (distance < least) {
                least = distance;
                best = candidate;
            }
        }
        return best;
    }

    /** Levenshtein's edit distance. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(substituted, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
