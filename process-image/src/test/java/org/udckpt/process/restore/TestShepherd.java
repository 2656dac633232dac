package org.udckpt.process.restore;

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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * A shepherd under test, spoken to line by line (docs/reference/control-protocol.md). Closing ends it and all below it.
 */
final class TestShepherd implements RestoreTarget, AutoCloseable {
    static final Path BINARY = Path.of(System.getProperty("udckpt.native"), "udckpt-shepherd");

    final Path directory;
    private final Process process;
    private final SocketChannel channel;
    private final BufferedReader lines;
    private final Queue<String> exits = new ArrayDeque<>();
    private final List<String> warnings = new ArrayList<>();

    private TestShepherd(Path directory, Process process, SocketChannel channel) {
        this.directory = directory;
        this.process = process;
        this.channel = channel;
        this.lines =
                new BufferedReader(new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8));
    }

    /** @param prefix a command that starts it, like setpriv, or none; @param options --restore OFFSET, or none */
    static TestShepherd start(Path directory, List<String> prefix, String... options)
            throws IOException, InterruptedException {
        Path socket = directory.resolve("s" + System.nanoTime());
        List<String> command = new ArrayList<>(prefix);
        command.add(BINARY.toString());
        command.add(socket.toString());
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(directory.resolve("output").toFile()).start();
        for (int attempt = 0;; attempt++) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                channel.connect(UnixDomainSocketAddress.of(socket));
                return new TestShepherd(directory, process, channel);
            } catch (IOException early) {
                channel.close();
                if (attempt == 500 || !process.isAlive()) {
                    process.destroyForcibly();
                    throw new IOException(
                            "the shepherd does not listen: " + Files.readString(directory.resolve("output")), early);
                }
                Thread.sleep(10);
            }
        }
    }

    List<String> warnings() {
        return warnings;
    }

    void tell(String command) {
        try {
            channel.write(ByteBuffer.wrap((command + "\n").getBytes(StandardCharsets.UTF_8)));
        } catch (IOException failure) {
            throw new IllegalStateException(command, failure);
        }
    }

    /** The next line that is neither an exit nor the announcement of --restore. */
    String answer() {
        try {
            for (String line; (line = lines.readLine()) != null;) {
                if (line.startsWith("exited")) {
                    exits.add(line);
                } else if (!line.equals("ready")) {
                    return line;
                }
            }
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
        throw new IllegalStateException("the shepherd has closed its connection");
    }

    /** The last word of the answer. */
    int ask(String command) {
        tell(command);
        String answer = answer();
        if (answer.startsWith("error")) {
            throw new IllegalStateException(command + " -> " + answer);
        }
        return Integer.parseInt(answer.substring(answer.lastIndexOf(' ') + 1));
    }

    /** The next "exited HOSTPID STATUS". */
    String exit() throws IOException {
        return exits.isEmpty() ? lines.readLine() : exits.remove();
    }

    int spawn(int rank, String pmi, List<String> arguments) throws IOException {
        Path file = specification(pmi, arguments, "/");
        return ask("spawn " + rank + " " + file);
    }

    Path specification(String pmi, List<String> arguments, String where) throws IOException {
        List<String> strings = new ArrayList<>(List.of(where, pmi, "null", Integer.toString(arguments.size())));
        strings.addAll(arguments);
        strings.add("PATH=/usr/bin:/bin");
        return Files.writeString(directory.resolve("spec" + System.nanoTime()), String.join("\0", strings) + "\0");
    }

    @Override
    public void clock(long offsetNs) {
        ask("clock " + offsetNs);
    }

    @Override
    public void last(int pid) {
        ask("last " + pid);
    }

    @Override
    public int parent(int pid) {
        return ask("parent " + pid);
    }

    @Override
    public int stub(int pid) {
        return ask("stub " + pid);
    }

    @Override
    public void adopt(int pid, int hostPid) {
        ask("adopt " + pid + " " + hostPid);
    }

    @Override
    public int pmi(int rank, byte[] queued) {
        throw new UnsupportedOperationException("no PMI in this test");
    }

    @Override
    public void taken(int descriptor) {
        tell("taken " + descriptor);
    }

    /** With --restore: the pid of the inner one, as this process sees it. */
    int pidOne() {
        return (int) process.children().findFirst().orElseThrow().pid();
    }

    @Override
    public int lazy() {
        return ask("lazy");
    }

    @Override
    public void warn(String what) {
        warnings.add(what);
    }

    @Override
    public void go() {
        tell("go");
    }

    @Override
    public Path agentSocket() {
        throw new UnsupportedOperationException("no agent in this test");
    }

    /** Goes away as an agent that is killed does; the shepherd's exit code. */
    int abandon() throws IOException, InterruptedException {
        channel.close();
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the shepherd is still there: " + output());
        }
        return process.exitValue();
    }

    String output() throws IOException {
        return Files.readString(directory.resolve("output"));
    }

    @Override
    public void close() throws IOException {
        if (process.isAlive()) {
            List<ProcessHandle> below = process.descendants().toList();
            process.destroyForcibly();
            below.forEach(ProcessHandle::destroyForcibly);
        }
        channel.close();
    }
}
