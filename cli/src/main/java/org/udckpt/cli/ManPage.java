package org.udckpt.cli;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** A manual page (man(7)) of the command or of one verb, by what picocli knows of it. */
final class ManPage {
    private final CommandSpec command;
    private final Help help;
    private final StringBuilder page = new StringBuilder();

    private ManPage(CommandLine line) {
        this.command = line.getCommandSpec();
        this.help = new Help(command, Help.defaultColorScheme(Help.Ansi.OFF));
    }

    /** The page's name in section 1: the file's name without {@code .1}. */
    static String name(CommandLine line) {
        return line.getCommandSpec().qualifiedName("-");
    }

    /** @param version with the command's name, for the footer */
    static String of(CommandLine line, String version) {
        return new ManPage(line).text(version);
    }

    private String text(String version) {
        page.append(".TH ")
                .append(quoted(command.qualifiedName("-").toUpperCase(Locale.ROOT)))
                .append(" 1 \"\" ")
                .append(quoted(version))
                .append(" \"udckpt\"\n");
        section("NAME");
        paragraph(command.qualifiedName("-") + " - " + description());
        section("SYNOPSIS");
        page.append(".nf\n").append(escaped(help.synopsis(0).strip())).append("\n.fi\n");
        section("DESCRIPTION");
        paragraph(description());
        parameters();
        options();
        verbs();
        footer();
        return page.toString();
    }

    private String description() {
        return String.join(" ", command.usageMessage().description());
    }

    private void parameters() {
        List<PositionalParamSpec> parameters =
                command.positionalParameters().stream().filter(one -> !one.hidden()).toList();
        if (!parameters.isEmpty()) {
            section("ARGUMENTS");
            parameters.forEach(
                    one -> entry("\\fI" + escaped(one.paramLabel()) + "\\fR", String.join(" ", one.description())));
        }
    }

    private void options() {
        HelpGroups.of(command).forEach((heading, options) -> {
            if (!options.isEmpty()) {
                section(heading.isEmpty() ? "OPTIONS" : "OPTIONS: " + heading.toUpperCase(Locale.ROOT));
                options.forEach(this::option);
            }
        });
    }

    private void option(OptionSpec option) {
        String names = List.of(option.names()).stream()
                .map(name -> "\\fB" + escaped(name) + "\\fR")
                .collect(Collectors.joining(", "));
        String label = "\\fI" + escaped(option.paramLabel()) + "\\fR";
        String value = option.arity().max() == 0 ? "" : option.arity().min() == 0 ? " [" + label + "]" : " " + label;
        entry(names + value, String.join(" ", option.description()));
    }

    private void verbs() {
        if (!command.subcommands().isEmpty()) {
            section("COMMANDS");
            command.subcommands().forEach((name, verb) -> {
                if (!verb.getCommandSpec().usageMessage().hidden()) {
                    entry("\\fB" + escaped(name) + "\\fR",
                            String.join(" ", verb.getCommandSpec().usageMessage().description()));
                }
            });
        }
    }

    private void footer() {
        String[] lines = command.usageMessage().footer();
        if (lines.length > 0) {
            section("MORE");
            page.append(".nf\n");
            List.of(lines).forEach(line -> page.append(escaped(line)).append('\n'));
            page.append(".fi\n");
        }
    }

    private void section(String name) {
        page.append(".SH ").append(quoted(name)).append('\n');
    }

    private void paragraph(String text) {
        page.append(escaped(text)).append('\n');
    }

    private void entry(String head, String text) {
        page.append(".TP\n").append(head).append('\n').append(escaped(text)).append('\n');
    }

    private static String quoted(String text) {
        return "\"" + escaped(text).replace("\"", "\\(dq") + "\"";
    }

    /** As text: no line begins a request, and a hyphen is the character that can be copied. */
    private static String escaped(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-").replace("%n", "\n").replaceAll("(?m)^([.'])", "\\\\&$1");
    }
}
