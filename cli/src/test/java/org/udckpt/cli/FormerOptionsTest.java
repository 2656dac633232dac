package org.udckpt.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Names of options in earlier versions mean the present options, and no help shows them. */
class FormerOptionsTest {
    private static CommandLine line(String verb) {
        CommandLine line = Udckpt.line(verb);
        line.getSubcommands().values().forEach(FormerOptions::install);
        return line;
    }

    @Test
    void eachSetsThePresentOption() {
        Set<String> tried = new TreeSet<>();
        for (String name : List.of("run", "restart", "batch")) {
            FormerOptions.NAMES.forEach((former, present) -> {
                CommandLine line = line(name);
                CommandLine verb = line.getSubcommands().get(name);
                if (verb.getCommandSpec().findOption(present) != null) {
                    line.parseArgs(name, former, "1=2", "there");
                    assertEquals("1=2", verb.getCommandSpec().findOption(present).getValue(), former);
                    tried.add(former);
                }
            });
        }
        assertEquals(new TreeSet<>(FormerOptions.NAMES.keySet()), tried);
    }

    @Test
    void noHelpShowsThem() {
        for (String name : HelpGroups.VERBS) {
            String help = line(name).getSubcommands().get(name).getUsageMessage(CommandLine.Help.Ansi.OFF);
            FormerOptions.NAMES.keySet().forEach(former -> assertFalse(help.contains(former + " ")
                    || help.contains(former + "=") || help.contains(former + ","), () -> former + " is in " + help));
        }
    }
}
