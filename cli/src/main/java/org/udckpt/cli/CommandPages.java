package org.udckpt.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.AutoComplete;
import picocli.CommandLine;

/**
 * Writes the manual pages and the completion scripts of the command; the build runs it (cli/pom.xml), {@code udckpt
 * install} installs them.
 */
public final class CommandPages {
    private static final String COMMAND = "udckpt";
    /** Completion by bash's rules, which zsh understands. */
    private static final String ZSH = "#compdef " + COMMAND + "\nautoload -U +X bashcompinit && bashcompinit\n";

    private CommandPages() {}

    /** @param arguments the directory to write to, which has {@code man1}, {@code bash} and {@code zsh} then */
    public static void main(String[] arguments) throws IOException {
        write(Path.of(arguments[0]));
    }

    static void write(Path directory) throws IOException {
        CommandLine line = Udckpt.line();
        Path man = Files.createDirectories(directory.resolve("man1"));
        String version = Version.text();
        write(man, line, version);
        for (CommandLine verb : line.getSubcommands().values()) {
            if (!verb.getCommandSpec().usageMessage().hidden()) {
                write(man, verb, version);
            }
        }
        String completion = AutoComplete.bash(COMMAND, line);
        Files.writeString(Files.createDirectories(directory.resolve("bash")).resolve(COMMAND), completion);
        Files.writeString(Files.createDirectories(directory.resolve("zsh")).resolve("_" + COMMAND), ZSH + completion);
    }

    private static void write(Path man, CommandLine line, String version) throws IOException {
        Files.writeString(man.resolve(ManPage.name(line) + ".1"), ManPage.of(line, version));
    }
}
