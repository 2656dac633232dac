package org.udckpt.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The help of verbs with many options has them under headings. */
class HelpGroupsTest {
    @Test
    void everyOptionHasItsGroup() {
        for (String verb : HelpGroups.VERBS) {
            CommandLine line = Udckpt.line(verb).getSubcommands().get(verb);
            Map<String, List<OptionSpec>> groups = HelpGroups.of(line.getCommandSpec());
            assertFalse(groups.containsKey(HelpGroups.OTHERS),
                    () -> verb + ": name a group in HelpGroups for " + groups.get(HelpGroups.OTHERS));
            List<OptionSpec> all = groups.values().stream().flatMap(List::stream).toList();
            assertEquals(
                    line.getCommandSpec().options().stream().filter(option -> !option.hidden()).count(), all.size());
            assertEquals(all.size(), all.stream().distinct().count(), verb + " shows an option twice");
            String help = line.getUsageMessage(CommandLine.Help.Ansi.OFF);
            groups.keySet().forEach(heading -> assertTrue(help.contains("\n" + heading + ":\n"), help));
            all.forEach(option -> assertTrue(help.contains(option.longestName()), () -> option + " is not in " + help));
        }
    }

    @Test
    void headingsAreThoseThatUsersLookFor() {
        String help = Udckpt.line("run").getSubcommands().get("run").getUsageMessage(CommandLine.Help.Ansi.OFF);
        int at = 0;
        for (String heading : List.of("Placement", "Checkpoints", "Storage", "Files", "Network", "Failures")) {
            int next = help.indexOf("\n" + heading + ":\n");
            assertTrue(next > at, heading + " is not there, or not in order: " + help);
            at = next;
        }
    }

    @Test
    void otherVerbsAreAsTheyWere() {
        String help = Udckpt.line("list").getSubcommands().get("list").getUsageMessage(CommandLine.Help.Ansi.OFF);
        assertTrue(help.contains("--json") && !help.contains("Storage:"), help);
    }
}
