package org.udckpt.launch.pmi;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Messages;
import org.udckpt.support.runtime.LineReader;

/** PMI-1 session of one rank: reads a line, answers it, until the rank closes the connection. */
final class PmiSession {
    // What hydra answers, and the buffers of MPICH's client are made for (src/pmi/simple/simple_pmi.c).
    private static final String NAME_MAX = "256";
    private static final String KEY_MAX = "64";
    private static final String VALUE_MAX = "1024";
    private static final int MOST_EXPECTED = 1 << 20;
    private static final int MOST_ASKED = 1 << 12; // in one question, each of which has a timeout of its own
    private static final int LINE_MAX = 64 * 1024; // one of MPI_Comm_spawn's may hold many arguments

    private final PmiServer server;
    private final SocketChannel channel;
    /** Keys that will be wanted soon, of other agents. */
    private final Set<String> expected = new LinkedHashSet<>();
    private int rank = -1;

    PmiSession(PmiServer server, SocketChannel channel) {
        this.server = server;
        this.channel = channel;
    }

    void serve() {
        try (channel) {
            LineReader reader = new LineReader(channel, StandardCharsets.ISO_8859_1, LINE_MAX);
            identify(reader.readLine());
            requests(reader);
        } catch (PmiException | LineReader.TooLong e) {
            notPmi(e);
        } catch (IOException e) {
            Messages.debugTrace("PMI: rank " + rank + " connection ended", e); // a killed rank resets its socket
        } finally {
            if (rank >= 0) {
                server.left(rank, this);
            }
        }
    }

    /**
     * Serves requests. A request that arrived while another was answered counts as begun before that one ends: so there
     * is no moment at which nothing seems to be under way.
     */
    private void requests(LineReader reader) throws IOException, PmiException {
        boolean begun = false;
        try {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (!begun) {
                    server.beginRequest();
                    begun = true;
                }
                answer(PmiLine.parse(line), reader);
                if (reader.hasMore()) {
                    server.beginRequest();
                } else {
                    begun = false;
                }
                server.endRequest();
            }
        } finally {
            if (begun) {
                server.endRequest();
            }
        }
    }

    /** The rank would wait for an answer for ever: the job ends, as it does under mpiexec. */
    private void notPmi(Exception e) {
        if (rank < 0) {
            Messages.error("PMI: " + e.getMessage() + "; closing the connection", e);
        } else {
            Messages.error("PMI: rank " + rank + ": " + e.getMessage()
                    + ": this program does not speak PMI-1, the process manager interface of MPICH;"
                    + " ending the job", e);
            server.listener().aborted(rank, ExitCode.UNSUPPORTED.value());
        }
    }

    private void identify(String line) throws PmiException, IOException {
        if (line == null || !line.matches("rank=\\d{1,9}")) {
            throw new PmiException("a connection started with '" + line + "', not with rank=R");
        }
        int claimed = Integer.parseInt(line.substring("rank=".length()));
        server.joined(claimed, this);
        rank = claimed;
    }

    private void answer(PmiLine line, LineReader reader) throws IOException, PmiException {
        KeyValueSpace space = server.space();
        switch (line.command()) {
            case "init" -> init(line);
            case "get_maxes" -> send(
                    PmiLine.format("maxes", "kvsname_max", NAME_MAX, "keylen_max", KEY_MAX, "vallen_max", VALUE_MAX));
            case "get_appnum" -> send(PmiLine.format("appnum", "appnum", "0"));
            case "get_my_kvsname" -> send(PmiLine.format("my_kvsname", "kvsname", space.name()));
            case "get_universe_size" -> send(
                    PmiLine.format("universe_size", "size", Integer.toString(server.span().total())));
            case "put" -> put(line);
            case "get" -> get(line);
            case "expect" -> expect(line);
            case "getbyidx" -> getByIndex(line);
            case "barrier_in" -> server.enterBarrier(rank);
            case "finalize" -> {
                server.setPhase(rank, PmiPhase.FINALISED);
                send(PmiLine.format("finalize_ack"));
            }
            case "abort" -> server.listener().aborted(speaker(line), exitCode(line));
            case "spawn" -> {
                skipBlock(line, reader);
                refuse("MPI_Comm_spawn", "spawn_result");
            }
            case "publish_name" -> refuse("MPI_Publish_name", "publish_result");
            case "unpublish_name" -> refuse("MPI_Unpublish_name", "unpublish_result");
            case "lookup_name" -> refuse("MPI_Lookup_name", "lookup_result");
            default -> throw new PmiException("unknown PMI-1 command '" + line.command() + "'");
        }
    }

    private void init(PmiLine line) throws IOException, PmiException {
        boolean ours = line.need("pmi_version").equals("1");
        if (ours) {
            server.setPhase(rank, PmiPhase.INITIALISED);
        } else {
            server.listener().refused(rank, "PMI version " + line.need("pmi_version")
                    + " (udckpt speaks PMI-1; use MPICH's default process manager interface)");
        }
        send(PmiLine.format("response_to_init", "pmi_version", "1", "pmi_subversion", "1", "rc", ours ? "0" : "-1"));
    }

    private void put(PmiLine line) throws IOException, PmiException {
        String key = line.need("key");
        if (!line.need("kvsname").equals(server.space().name())) {
            send(PmiLine.format("put_result", "rc", "-1", "msg", "unknown_kvsname"));
        } else if (server.put(key, line.need("value"))) {
            send(PmiLine.format("put_result", "rc", "0", "msg", "success"));
        } else {
            send(PmiLine.format("put_result", "rc", "-1", "msg", "duplicate_key_" + key));
        }
    }

    private void get(PmiLine line) throws IOException, PmiException {
        String value = line.need("kvsname").equals(server.space().name()) ? lookUp(line.need("key")) : null;
        if (value != null) {
            send(PmiLine.format("get_result", "rc", "0", "msg", "success", "value", value));
        } else {
            send(PmiLine.format("get_result", "rc", "-1", "msg", "key_" + line.need("key") + "_not_found", "value",
                    "unknown"));
        }
    }

    /** A word of udckpt's own: has no answer, and is but a hint. */
    private void expect(PmiLine line) throws PmiException {
        if (line.need("kvsname").equals(server.space().name()) && expected.size() < MOST_EXPECTED) {
            expected.add(line.need("key"));
        }
    }

    /** Null, with a word to the user, also when the other agents do not answer: the rank must not wait for ever. */
    private String lookUp(String key) {
        String own = server.space().get(key);
        if (own != null) {
            return own;
        }
        List<String> wanted = new ArrayList<>(expected);
        expected.clear();
        wanted.remove(key);
        wanted.addFirst(key);
        try {
            String value = null;
            for (int from = 0; from < wanted.size(); from += MOST_ASKED) {
                Map<String, String> values =
                        server.get(Set.copyOf(wanted.subList(from, Math.min(wanted.size(), from + MOST_ASKED))));
                value = from == 0 ? values.get(key) : value;
            }
            return value;
        } catch (TimeoutException e) {
            Messages.error("PMI: rank " + rank + " asked for the key '" + key
                    + "', but the agents of the other nodes did not answer in time: it gets an error", e);
        } catch (ExecutionException e) {
            Messages.error("PMI: rank " + rank + " asked for the key '" + key + "': " + e.getCause().getMessage()
                    + ": it gets an error", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return null;
    }

    private void getByIndex(PmiLine line) throws IOException, PmiException {
        if (!server.span().isAll()) {
            server.listener().refused(rank, "PMI's getbyidx in a job of several nodes (none of which has all pairs)");
            send(PmiLine.format("getbyidx_results", "rc", "-1", "reason", "not_supported_by_udckpt"));
            return;
        }
        int index;
        try {
            index = Integer.parseInt(line.need("idx"));
        } catch (NumberFormatException e) {
            throw new PmiException("getbyidx with idx=" + line.need("idx"));
        }
        Map.Entry<String, String> pair = index < 0 ? null : server.space().at(index);
        if (pair != null) {
            send(PmiLine.format("getbyidx_results", "rc", "0", "nextidx", Integer.toString(index + 1), "key",
                    pair.getKey(), "val", pair.getValue()));
        } else {
            send(PmiLine.format("getbyidx_results", "rc", "-2", "reason", "no_more_keyvals"));
        }
    }

    /** A launcher speaks for the ranks below it. */
    private int speaker(PmiLine line) {
        String text = line.arguments().getOrDefault("rank", "");
        return text.matches("\\d{1,8}") ? Integer.parseInt(text) : rank;
    }

    private static int exitCode(PmiLine line) {
        String text = line.arguments().getOrDefault("exitcode", "1");
        return text.matches("-?\\d{1,9}") ? Integer.parseInt(text) : 1;
    }

    private static void skipBlock(PmiLine line, LineReader reader) throws IOException, PmiException {
        if (!line.multiLine()) {
            return;
        }
        for (String next = reader.readLine(); !"endcmd".equals(next); next = reader.readLine()) {
            if (next == null) {
                throw new PmiException("the connection ended inside mcmd=" + line.command());
            }
        }
    }

    private void refuse(String what, String result) throws IOException {
        server.listener().refused(rank,
                what + " (udckpt jobs have a fixed number of ranks; start them all with 'udckpt run -n')");
        send(PmiLine.format(result, "rc", "-1", "msg", "not_supported_by_udckpt", "info", "not_supported_by_udckpt"));
    }

    /** Sends a line; several threads may (a barrier is released by the last rank's thread). */
    void send(String line) throws IOException {
        send((line + "\n").getBytes(StandardCharsets.ISO_8859_1));
    }

    synchronized void send(byte[] raw) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(raw);
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** Lets the rank out of its barrier. A rank that cannot be told has ended; its own thread finds that. */
    void leaveBarrier() {
        try {
            send("cmd=barrier_out");
        } catch (IOException e) {
            Messages.debugTrace("PMI: rank " + rank + " has not been let out of its barrier", e);
        }
    }

    void close() throws IOException {
        channel.close();
    }
}
