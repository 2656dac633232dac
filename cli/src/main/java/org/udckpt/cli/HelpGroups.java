package org.udckpt.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * The options of {@code run}, {@code batch}, {@code restart} and {@code checkpoint} in their help, under headings by
 * what they are about. Only the help knows the groups: to parse them as groups would cost each start time.
 */
final class HelpGroups {
    static final Set<String> VERBS = Set.of("run", "batch", "restart", "checkpoint");
    static final String OTHERS = "Other options";
    /** A heading, and one name of each option under it. */
    private static final Map<String, Set<String>> GROUPS = new LinkedHashMap<>();

    static {
        GROUPS.put("Job", Set.of("-n", "--name", "--mpi", "--env", "--grace"));
        GROUPS.put("Placement",
                Set.of("--hosts", "--ranks-per-unit", "--starter", "--fan-out", "--start-timeout", "--move-host",
                        "--map-gpu", "--keep-together"));
        GROUPS.put("Checkpoints",
                Set.of("--interval", "--mtbf", "--full-interval", "--write-tracking", "--verify-tracking", "--compress",
                        "--integrity", "--encrypt", "--lazy", "--no-wait", "--then", "--detach-debuggers"));
        GROUPS.put("Storage",
                Set.of("--dir", "--tiers", "--keep", "--keep-fast", "--shared-dir", "--max-rate", "--io-idle",
                        "--buffer"));
        GROUPS.put("Files",
                Set.of("--files", "--files-except", "--files-in-stop", "--files-limit", "--with-libraries",
                        "--replaced-files",
                        "--map-path", "--workdir"));
        GROUPS.put("Network", Set.of("--device", "--external-connections", "--lead-address"));
        GROUPS.put("Failures", Set.of("--restart-on-failure", "--spares", "--heartbeat-timeout"));
        GROUPS.put("Inspection", Set.of("--plan", "--json", "--debug-script", "--gdb"));
        GROUPS.put("Messages and metrics", Set.of("--metrics", "--metrics-listen", "--log-json", "--debug", "--help"));
    }

    private HelpGroups() {}

    /** The visible options of a verb, by heading. Verbs without groups have one, which has no heading. */
    static Map<String, List<OptionSpec>> of(CommandSpec verb) {
        Map<String, List<OptionSpec>> grouped = new LinkedHashMap<>();
        if (!VERBS.contains(verb.name())) {
            grouped.put("", verb.options().stream().filter(option -> !option.hidden()).toList());
            return grouped;
        }
        List<OptionSpec> left = new ArrayList<>(verb.options().stream().filter(option -> !option.hidden()).toList());
        GROUPS.forEach((heading, names) -> {
            List<OptionSpec> group = left.stream()
                    .filter(option -> List.of(option.names()).stream().anyMatch(names::contains))
                    .toList();
            left.removeAll(group);
            if (!group.isEmpty()) {
                grouped.put(heading, group);
            }
        });
        if (!left.isEmpty()) {
            grouped.put(OTHERS, left);
        }
        return grouped;
    }

    /** Has the help of a verb printed so. */
    static void install(CommandLine verb) {
        if (VERBS.contains(verb.getCommandName())) {
            // The full synopsis would be longer than a screen, and says nothing that the groups do not.
            verb.getCommandSpec().usageMessage().abbreviateSynopsis(true);
            verb.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, HelpGroups::text);
            verb.getHelpSectionMap().remove(UsageMessageSpec.SECTION_KEY_OPTION_LIST_HEADING);
        }
    }

    private static String text(Help help) {
        StringBuilder text = new StringBuilder();
        of(help.commandSpec()).forEach((heading, options) -> {
            Help.Layout layout = help.createDefaultLayout(options, List.of(), help.colorScheme());
            text.append(String.format("%n%s:%n", heading))
                    .append(help.optionListExcludingGroups(
                            options, layout, help.createDefaultOptionSort(), help.parameterLabelRenderer()));
        });
        return text.toString();
    }
}
