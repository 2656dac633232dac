package org.udckpt.system.cli;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs the real udckpt command, in a JVM of its own, with a runtime directory and a configuration of the test's.
 * Closing it ends every process that it started.
 */
public final class Udckpts implements AutoCloseable {
    /** What a finished command left. */
    public record Result(int code, String output, String errors) {
        @Override
        public String toString() {
            return "exit code " + code + "\n--- standard output\n" + output + "--- standard error\n" + errors;
        }
    }

    @FunctionalInterface
    public interface Condition {
        boolean holds() throws Exception;
    }

    /** A command that runs. */
    public static final class Running {
        final Process process;
        private final Path output;
        private final Path errors;
        private final List<String> command;

        private Running(Process process, Path output, Path errors, List<String> command) {
            this.process = process;
            this.output = output;
            this.errors = errors;
            this.command = command;
        }

        /** Waits for its end. */
        public Result await(int seconds) throws Exception {
            if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                throw new AssertionError(command + " did not end within " + seconds + " s\n" + soFar());
            }
            return soFar();
        }

        /** Waits, while it runs. */
        public void await(Condition condition) throws Exception {
            while (!condition.holds()) {
                if (!isAlive()) {
                    throw new AssertionError(command + " has ended\n" + soFar());
                }
                Thread.sleep(20);
            }
        }

        /** Waits until it has printed this, while it runs. */
        public void awaitOutput(String words) throws Exception {
            await(() -> soFar().output().contains(words));
        }

        /** What it has left so far, for messages. */
        public String text() {
            try {
                return soFar().toString();
            } catch (IOException e) {
                return e.toString();
            }
        }

        public boolean isAlive() {
            return process.isAlive();
        }

        public Result soFar() throws IOException {
            return new Result(process.isAlive() ? -1 : process.exitValue(), Files.readString(output),
                    Files.readString(errors));
        }
    }

    private final Path directory;
    private final List<Running> started = new ArrayList<>();
    private int count;

    /** @param directory for the runtime, the logs, and the commands' working directory */
    public Udckpts(Path directory) throws IOException {
        this.directory = directory;
        Files.createDirectories(runtime());
    }

    public static Path nativeFile(String name) {
        return Path.of(System.getProperty("udckpt.native"), name);
    }

    public static String program(String name) {
        return nativeFile("programs").resolve(name).toString();
    }

    public Path runtime() {
        return directory.resolve("run");
    }

    /** Starts {@code udckpt arguments...}; standard input is /dev/null or the given file. */
    public Running start(Map<String, String> environment, File input, String... arguments) throws IOException {
        return start(command(arguments), environment, input);
    }

    /** The same after a command of the shell such as {@code ulimit -n 400}. */
    public Running startLimited(String before, Map<String, String> environment, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", before + "; exec \"$@\"", "sh"));
        command.addAll(command(arguments));
        return start(command, environment, new File("/dev/null"));
    }

    private static List<String> command(String... arguments) {
        List<String> command = ScriptedJava.command(arguments.length > 0 ? arguments[0] : "");
        command.add("org.udckpt.cli.Main");
        command.addAll(List.of(arguments));
        return command;
    }

    public Running start(String... arguments) throws IOException {
        return start(Map.of(), new File("/dev/null"), arguments);
    }

    /** Runs any command the same way, for comparison. */
    public Running start(List<String> command, Map<String, String> environment, File input) throws IOException {
        int number = count++;
        Path output = directory.resolve("out-" + number);
        Path errors = directory.resolve("err-" + number);
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectInput(input)
                .redirectOutput(output.toFile()).redirectError(errors.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("UDCKPT_") || name.startsWith("UCX_"));
        builder.environment().put("UDCKPT_RUNTIME", runtime().toString());
        builder.environment().put("UDCKPT_NATIVE", System.getProperty("udckpt.native"));
        builder.environment().put("UDCKPT_KEY_FILE", directory.resolve("key").toString());
        builder.environment().put("XDG_CONFIG_HOME", directory.toString());
        builder.environment().putAll(environment);
        Running running = new Running(builder.start(), output, errors, command);
        started.add(running);
        return running;
    }

    public Result run(String... arguments) throws Exception {
        return start(arguments).await(180);
    }

    @Override
    public void close() throws Exception {
        for (Running running : started) {
            List<ProcessHandle> family = running.process.descendants().toList();
            running.process.destroyForcibly().waitFor();
            family.forEach(ProcessHandle::destroyForcibly);
        }
    }
}
