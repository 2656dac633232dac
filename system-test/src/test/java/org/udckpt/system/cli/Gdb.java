package org.udckpt.system.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What gdb says of a core file, or of a process that runs. */
record Gdb(String output) {
    private static final Pattern THREAD = Pattern.compile("^Thread \\d+ \\(Thread 0x\\S+ \\(LWP (\\d+)\\).*");
    private static final Pattern FRAME = Pattern.compile("^#\\d+ +(?:0x[0-9a-f]+ in )?(\\S+) \\(.*");
    private static final Pattern REGISTER = Pattern.compile("^(\\w+) +(0x[0-9a-f]+) .*");

    static Gdb core(Udckpts udckpts, String program, Path core, String... commands) throws Exception {
        return ask(udckpts, List.of(program, core.toString()), commands);
    }

    static Gdb attached(Udckpts udckpts, long pid, String... commands) throws Exception {
        return ask(udckpts, List.of("-p", Long.toString(pid)), commands);
    }

    private static Gdb ask(Udckpts udckpts, List<String> target, String... commands) throws Exception {
        List<String> words = new ArrayList<>(List.of("gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off"));
        words.addAll(target);
        for (String command : commands) {
            words.addAll(List.of("-ex", command));
        }
        Udckpts.Result result = udckpts.start(words, Map.of(), new java.io.File("/dev/null")).await(60);
        return new Gdb(result.output() + result.errors());
    }

    /** The value of {@code print NAME}, the n-th such command: {@code $1 = ...}. */
    String value(int number) {
        return output.lines().filter(line -> line.startsWith("$" + number + " = ")).findFirst()
                .orElseThrow(() -> new AssertionError(output)).replaceFirst("^\\$\\d+ = ", "");
    }

    /** By thread id the functions on its stack, innermost first, as {@code thread apply all bt} showed them. */
    Map<Long, List<String>> stacks() {
        Map<Long, List<String>> stacks = new LinkedHashMap<>();
        List<String> open = null;
        for (String line : output.lines().toList()) {
            Matcher thread = THREAD.matcher(line);
            Matcher frame = FRAME.matcher(line);
            if (thread.matches()) {
                open = new ArrayList<>();
                stacks.put(Long.parseLong(thread.group(1)), open);
            } else if (open != null && frame.matches()) {
                open.add(frame.group(1));
            } else if (line.isBlank()) {
                open = null;
            }
        }
        return stacks;
    }

    /** What {@code info registers} showed, by name. */
    Map<String, String> registers() {
        Map<String, String> registers = new LinkedHashMap<>();
        output.lines().map(REGISTER::matcher).filter(Matcher::matches)
                .forEach(match -> registers.put(match.group(1), match.group(2)));
        return registers;
    }
}
