package org.udckpt.ud;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A process of a test program, ud_client or another one: one command, one answer. */
final class UdClient implements AutoCloseable {
    final int rank;
    private final Process process;
    private final PrintWriter commands;
    private final BufferedReader answers;

    UdClient(int rank, Map<String, String> environment) throws IOException {
        this(rank, Path.of(System.getProperty("udckpt.native")), environment);
    }

    /** The program of this build of native/. */
    UdClient(int rank, Path build, Map<String, String> environment) throws IOException {
        this(rank, build, environment, List.of("ud_client"));
    }

    UdClient(int rank, Path build, Map<String, String> environment, List<String> program) throws IOException {
        this.rank = rank;
        List<String> command = new ArrayList<>(program);
        command.set(0, build.resolve("virtualization").resolve(program.getFirst()).toString());
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        builder.environment().put("UDCKPT_RANK", Integer.toString(rank));
        process = builder.start();
        commands = new PrintWriter(process.outputWriter(), true);
        answers = process.inputReader();
    }

    void tell(String command) {
        commands.println(command);
    }

    /** The next line, within 20 seconds. */
    String line() throws Exception {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return answers.readLine();
            } catch (IOException e) {
                return "rank " + rank + ": " + e.getMessage();
            }
        }).get(20, TimeUnit.SECONDS);
    }

    String ask(String command) throws Exception {
        tell(command);
        return line();
    }

    boolean ready() throws IOException {
        return answers.ready();
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
