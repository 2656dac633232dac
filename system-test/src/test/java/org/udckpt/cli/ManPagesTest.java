package org.udckpt.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.system.cli.Udckpts;
import picocli.CommandLine;

/** Manual pages, completion scripts and the version are what the command is. */
@Timeout(120)
class ManPagesTest {
    private static final String ROOT = System.getProperty("udckpt.root");

    @TempDir
    Path temp;

    @Test
    void eachVerbHasAPageWithItsOptions() throws Exception {
        CommandPages.write(temp);
        for (CommandLine verb : Udckpt.line().getSubcommands().values()) {
            if (verb.getCommandSpec().usageMessage().hidden()) {
                continue; // agents are started by their lead
            }
            String page = Files.readString(temp.resolve("man1/udckpt-" + verb.getCommandName() + ".1"));
            verb.getCommandSpec()
                    .options()
                    .stream()
                    .filter(option -> !option.hidden())
                    .forEach(option -> assertTrue(
                            page.contains("\\fB" + option.longestName().replace("-", "\\-") + "\\fR"),
                            () -> option + " is not in " + page));
            assertTrue(page.startsWith(
                    ".TH \"UDCKPT\\-" + verb.getCommandName().toUpperCase().replace("-", "\\-") + "\" 1 "),
                    page);
            assertTrue(
                    page.lines().noneMatch(line -> line.startsWith("'")), "a line of text begins a request: " + page);
        }
        String all = Files.readString(temp.resolve("man1/udckpt.1"));
        assertTrue(all.contains("\\fBprune\\fR") && all.contains(Version.text().replace("-", "\\-")), all);
    }

    @Test
    void verbsAndOptionsAreCompleted() throws Exception {
        CommandPages.write(temp);
        assertEquals("prune", completed("udckpt", "pr"));
        assertTrue(completed("udckpt", "remove", "--with").contains("--with-base"),
                completed("udckpt", "remove", "--with"));
        assertTrue(Files.readString(temp.resolve("zsh/_udckpt")).startsWith("#compdef udckpt\n"));
    }

    /** What bash would offer for the last word. */
    private String completed(String... words) throws Exception {
        String script = ". \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_LINE=\"$*\";"
                + " COMP_POINT=${#COMP_LINE}; _complete_udckpt; printf '%s ' \"${COMPREPLY[@]}\"";
        List<String> command =
                new java.util.ArrayList<>(List.of("bash", "-c", script, temp.resolve("bash/udckpt").toString()));
        command.addAll(List.of(words));
        try (Udckpts udckpts = new Udckpts(temp)) {
            return udckpts.start(command, Map.of(), new File("/dev/null")).await(60).output().strip();
        }
    }

    @Test
    void theVersionNamesTheCommit() throws Exception {
        assertTrue(Version.text().matches("udckpt \\d+\\.\\d+\\.\\d+ \\(commit (unknown|[0-9a-f]{12}(\\+changes)?)\\)"),
                Version.text());
        try (Udckpts udckpts = new Udckpts(temp)) {
            Udckpts.Result result = udckpts.run("--version");
            assertEquals(Version.text() + "\n", result.output(), result.toString());
            Path tree = Files.createDirectories(temp.resolve("tree/scripts"));
            Files.copy(Path.of(ROOT, "scripts/version.sh"), tree.resolve("version.sh"),
                    java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
            assertEquals("1.2.3 (commit unknown)", written(udckpts));
            String commit = "cd tree && git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm x"
                    + " && git rev-parse HEAD";
            Udckpts.Result clone = udckpts.start(List.of("sh", "-c", commit), Map.of("GIT_CONFIG_GLOBAL", "/dev/null"),
                    new File("/dev/null")).await(60);
            assertEquals(0, clone.code(), clone.toString());
            assertEquals("1.2.3 (commit " + clone.output().substring(0, 12) + ")", written(udckpts));
            Files.writeString(tree.resolve("version.sh"), "\n", java.nio.file.StandardOpenOption.APPEND);
            assertEquals("1.2.3 (commit " + clone.output().substring(0, 12) + "+changes)", written(udckpts));
        }
    }

    private String written(Udckpts udckpts) throws Exception {
        Path file = temp.resolve("out/version");
        Udckpts.Result result = udckpts
                .start(List.of(temp.resolve("tree/scripts/version.sh").toString(), "1.2.3", file.toString()),
                        Map.of(), new File("/dev/null"))
                .await(60);
        assertEquals(0, result.code(), result.toString());
        assertFalse(Files.readString(file).strip().contains("\n"));
        return Files.readString(file).strip();
    }
}
