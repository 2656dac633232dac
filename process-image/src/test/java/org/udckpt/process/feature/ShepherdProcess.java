package org.udckpt.process.feature;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/**
 * A shepherd that this test started and commands (docs/reference/control-protocol.md); closing it ends all that it
 * started.
 */
final class ShepherdProcess implements AutoCloseable {
    private final Process process;
    private final SocketChannel channel;
    private final Path output;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final ConcurrentHashMap<Integer, CompletableFuture<Integer>> exits = new ConcurrentHashMap<>();

    /** @param options "--restore", OFFSET or nothing; {@code output} gets the standard streams of the programs, too */
    ShepherdProcess(Path binary, Path socket, Path output, String... options) throws IOException, InterruptedException {
        Files.deleteIfExists(socket);
        List<String> command = new ArrayList<>(List.of(binary.toString(), socket.toString()));
        command.addAll(List.of(options));
        this.output = output;
        process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
                .redirectInput(Path.of("/dev/null").toFile()).start();
        channel = connect(socket);
        Thread.ofPlatform().daemon().name("shepherd-" + process.pid()).start(this::listen);
    }

    private SocketChannel connect(Path socket) throws IOException, InterruptedException {
        for (int attempt = 0;; attempt++) {
            if (Files.exists(socket)) {
                SocketChannel connection = SocketChannel.open(StandardProtocolFamily.UNIX);
                try {
                    connection.connect(UnixDomainSocketAddress.of(socket));
                    return connection;
                } catch (IOException e) {
                    connection.close(); // bound, not yet listening
                }
            }
            if (attempt == 500 || !process.isAlive()) {
                process.destroyForcibly();
                throw new IOException("the shepherd does not listen at " + socket + ": " + Files.readString(output));
            }
            Thread.sleep(20);
        }
    }

    private void listen() {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8))) {
            for (String line; (line = reader.readLine()) != null;) {
                String[] words = line.split(" ");
                if (words[0].equals("exited")) {
                    exit(Integer.parseInt(words[1])).complete(Integer.parseInt(words[2]));
                } else if (!line.equals("ready")) {
                    answers.add(line);
                }
            }
            answers.add("error the shepherd closed its connection");
        } catch (IOException e) {
            answers.add("error " + e);
        }
    }

    private CompletableFuture<Integer> exit(int hostPid) {
        return exits.computeIfAbsent(hostPid, p -> new CompletableFuture<>());
    }

    synchronized void tell(String command) {
        try {
            ByteBuffer bytes = ByteBuffer.wrap((command + "\n").getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            throw new IllegalStateException("the shepherd did not take \"" + command + "\"", e);
        }
    }

    /** The last word of the answer, a number. */
    synchronized int ask(String command) {
        tell(command);
        try {
            String answer = answers.poll(20, TimeUnit.SECONDS);
            if (answer == null || answer.startsWith("error")) {
                throw new IllegalStateException(
                        "the shepherd answered \"" + answer + "\" to \"" + command + "\"; " + printed());
            }
            return Integer.parseInt(answer.substring(answer.lastIndexOf(' ') + 1));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Starts a program; its pid as this process sees it. */
    int spawn(Path specification, Path directory, List<String> arguments, List<String> environment) throws IOException {
        List<String> strings =
                new ArrayList<>(List.of(directory.toString(), "", "null", Integer.toString(arguments.size())));
        strings.addAll(arguments);
        strings.addAll(environment);
        Files.writeString(specification, String.join("\0", strings) + "\0");
        return ask("spawn 0 " + specification);
    }

    boolean exited(int hostPid) {
        return exit(hostPid).isDone();
    }

    /** The wait status, or a failure that says what the program printed. */
    int awaitExit(int hostPid, int seconds) throws Exception {
        try {
            return exit(hostPid).get(seconds, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException("process " + hostPid + " did not end in " + seconds + " s; " + printed());
        }
    }

    long pid() {
        return process.pid();
    }

    /** All that run below it, but for those (snapshots) and what only helps it. */
    List<Integer> processes(int[] but) {
        return process.descendants().map(one -> (int) one.pid())
                .filter(pid -> IntStream.of(but).noneMatch(other -> other == pid))
                .filter(ShepherdProcess::ofTheJob).toList();
    }

    private static boolean ofTheJob(int pid) {
        try {
            boolean over = Proc.stat(pid)[0].equals("Z") && Proc.living(pid) == pid;
            return !over && !Proc.text("/proc/" + pid + "/comm").strip().startsWith("udckpt-");
        } catch (LinuxError ended) { // the snapshot of an earlier capture
            return false;
        }
    }

    String printed() {
        try {
            return "output: " + Files.readString(output).strip().replace('\n', '|');
        } catch (IOException e) {
            return "no output: " + e;
        }
    }

    /** Kills every process below the shepherd, the innermost last, and then the shepherd itself. */
    @Override
    public void close() throws IOException {
        List<ProcessHandle> below = process.descendants().toList();
        try {
            tell("quit");
        } catch (IllegalStateException e) {
            process.destroyForcibly(); // it is gone or going already
        }
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        below.forEach(ProcessHandle::destroyForcibly);
        channel.close();
    }
}
