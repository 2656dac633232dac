package org.udckpt.rc;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A process of the test program rc_client: one command, one answer. */
final class RcClient implements AutoCloseable {
    private final int rank;
    private final Process process;
    private final PrintWriter commands;
    private final BufferedReader answers;

    /** @param build a build directory of native/ */
    RcClient(int rank, Path build, Map<String, String> environment) throws IOException {
        this.rank = rank;
        ProcessBuilder builder = new ProcessBuilder(build.resolve("virtualization").resolve("rc_client").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        builder.environment().put("UDCKPT_RANK", Integer.toString(rank));
        process = builder.start();
        commands = new PrintWriter(process.outputWriter(), true);
        answers = process.inputReader();
    }

    /** Sends a command and returns the next line. */
    String ask(String command) throws Exception {
        commands.println(command);
        return line();
    }

    /** The next line; waits a minute at most. */
    String line() throws Exception {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return answers.readLine();
            } catch (IOException e) {
                return "rank " + rank + ": " + e.getMessage();
            }
        }).get(60, TimeUnit.SECONDS);
    }

    /** Stops all threads of the process: kill(1) does not wait for that. */
    void stop() throws Exception {
        signal("STOP");
        boolean stopped = false;
        for (int i = 0; i < 5000 && !stopped; i++) {
            Thread.sleep(2);
            try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
                stopped = threads.allMatch(thread -> state(thread) == 'T');
            }
        }
        if (!stopped) {
            throw new IOException("rank " + rank + " does not stop");
        }
    }

    /** proc_pid_stat(5). @param thread its directory */
    private static char state(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @param name of kill(1), as CONT */
    void signal(String name) throws Exception {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start();
        if (kill.waitFor() != 0) {
            throw new IOException("rank " + rank + ": kill -" + name + ": code " + kill.exitValue());
        }
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
