package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An {@link AskingLead} with its {@link AnsweringAgent}s, from outside. */
final class LeadProcess implements AutoCloseable {
    private static final int SECONDS = 120;
    private static final String MARK = "-Dtest.directory=";

    final Process process;
    private final Path output;
    private final Path errors;
    private final String mark;

    /**
     * @param directory   of the test
     * @param host        where the lead runs, such as {@code Host::command}
     * @param environment besides the test's own
     */
    LeadProcess(Path directory, UnaryOperator<ProcessBuilder> host, Map<String, String> environment,
            String... arguments) throws IOException {
        output = directory.resolve("lead.out");
        errors = directory.resolve("lead.err");
        mark = MARK + directory + "\0";
        Path agent = directory.resolve("agent");
        Files.writeString(agent,
                "#!/bin/sh\nexec " + String.join(" ", java(directory, AnsweringAgent.class)) + " \"$@\"\n");
        assertTrue(agent.toFile().setExecutable(true));
        List<String> command = new ArrayList<>(java(directory, AskingLead.class));
        command.addAll(List.of(arguments));
        Path input = Files.writeString(directory.resolve("input"), "the job's input");
        ProcessBuilder builder = host.apply(new ProcessBuilder(command)).redirectInput(input.toFile())
                .redirectOutput(output.toFile()).redirectError(errors.toFile());
        builder.environment().put("UDCKPT_REMOTE", agent.toString());
        builder.environment().putAll(environment);
        process = builder.start();
    }

    private static List<String> java(Path directory, Class<?> main) {
        return List.of(System.getProperty("java.home") + "/bin/java", "--enable-native-access=ALL-UNNAMED",
                "--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                MARK + directory, "-cp", System.getProperty("java.class.path"), main.getName());
    }

    /** Waits for its end. @return its exit code */
    int await() throws Exception {
        assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS), () -> "the lead does not end: " + this);
        return process.exitValue();
    }

    void awaitOutput(String text) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!output().contains(text)) {
            assertTrue(System.nanoTime() < end && process.isAlive(), () -> "no '" + text + "': " + this);
            Thread.sleep(20);
        }
    }

    String output() throws IOException {
        return Files.readString(output);
    }

    String errors() throws IOException {
        return Files.readString(errors);
    }

    /** The agent's process, which has started. */
    ProcessHandle agent(int unit) throws IOException {
        Matcher said = Pattern.compile("unit " + unit + " starts as process (\\d+)").matcher(output());
        assertTrue(said.find(), this::toString);
        return ProcessHandle.of(Long.parseLong(said.group(1))).orElseThrow();
    }

    /** The lead and agents that run. */
    List<ProcessHandle> running() {
        return ProcessHandle.allProcesses().filter(each -> {
            try {
                return Files
                        .readString(Path.of("/proc", Long.toString(each.pid()), "cmdline"), StandardCharsets.ISO_8859_1)
                        .contains(mark);
            } catch (IOException e) {
                return false; // it has ended
            }
        }).toList();
    }

    /** How often a text is in the output. */
    int count(String text) throws IOException {
        return output().split(text, -1).length - 1;
    }

    @Override
    public String toString() {
        try {
            return "--- output\n" + output() + "--- errors\n" + errors();
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Override
    public void close() {
        running().forEach(ProcessHandle::destroyForcibly);
    }
}
