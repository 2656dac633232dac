package org.udckpt.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.udckpt.system.cli.ScriptedJava;

/**
 * The udckpt command as a child of the test: the classes under test in a JVM of their own, in a runtime directory of
 * their own.
 */
final class CommandLine {
    private final Path directory;
    private final List<String> wrapper;

    /** @param directory of the test; its path is short, since the sockets of jobs are made below it */
    CommandLine(Path directory) {
        this(directory, List.of());
    }

    /** @param wrapper a command that starts the others */
    CommandLine(Path directory, List<String> wrapper) {
        this.directory = directory;
        this.wrapper = wrapper;
    }

    Path runtime() {
        return directory.resolve("run");
    }

    static Path artifact(String name) {
        return Path.of(System.getProperty("udckpt.native")).resolve(name);
    }

    /** Starts it; standard output and error go to NAME.out and NAME.err of the test's directory. */
    Process start(String name, String... arguments) throws IOException {
        return start(name, Map.of(), arguments);
    }

    /** With variables besides those of the test. */
    Process start(String name, Map<String, String> environment, String... arguments) throws IOException {
        // a leader of a session without a terminal, as cron and batch systems have it
        List<String> command = new ArrayList<>(List.of("setsid"));
        command.addAll(wrapper);
        command.addAll(ScriptedJava.command(arguments[0]));
        command.addAll(
                List.of("-Xmx512m", "-Dudckpt.native=" + System.getProperty("udckpt.native"), "org.udckpt.cli.Main"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().putAll(environment);
        builder.environment().put("UDCKPT_RUNTIME", runtime().toString());
        return builder.redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output(name).toFile()))
                .redirectError(ProcessBuilder.Redirect.appendTo(directory.resolve(name + ".err").toFile())).start();
    }

    Path output(String name) {
        return directory.resolve(name + ".out");
    }

    /** Runs it to its end; its exit code. */
    int run(String name, int seconds, String... arguments) throws IOException, InterruptedException {
        Process process = start(name, arguments);
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError(
                    "udckpt " + String.join(" ", arguments) + " did not end in " + seconds + " s; " + printed(name));
        }
        return process.exitValue();
    }

    /** Both streams so far, for messages. */
    String printed(String name) throws IOException {
        StringBuilder text = new StringBuilder();
        for (String stream : new String[]{".out", ".err"}) {
            Path file = directory.resolve(name + stream);
            text.append(name).append(stream).append(": ").append(Files.exists(file) ? Files.readString(file) : "(none)")
                    .append('\n');
        }
        return text.toString();
    }
}
