package org.udckpt.system.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A row of bench/clients.table, whose head says what the fields are.
 *
 * @param limit "-", "refused: WORDS" or "no checkpoint: WORDS"
 * @param length what {n} stands for at first; "-" where there is none
 */
record ForeignClient(String id, String limit, String length, String server, String client, String proof) {
    private static final int FIELDS = 9;
    private static final String REFUSED = "refused: ";

    /** Clients that the table marks with a plus sign. */
    static List<ForeignClient> quick() throws IOException {
        Path table = Path.of(System.getProperty("udckpt.root"), "bench/clients.table");
        return Files.readString(table).replaceAll("\n +", " ").lines().filter(row -> row.startsWith("+"))
                .map(ForeignClient::parse).toList();
    }

    private static ForeignClient parse(String row) {
        String[] fields = row.substring(1).split(Pattern.quote(" | "), -1);
        if (fields.length != FIELDS) {
            throw new IllegalArgumentException("bench/clients.table: not " + FIELDS + " fields: " + row);
        }
        return new ForeignClient(fields[0], fields[4], fields[5], fields[6], fields[7], fields[8]);
    }

    boolean isRefused() {
        return limit.startsWith(REFUSED);
    }

    /** Whether its two ends find each other by TCP; else by rdma_cm. */
    boolean usesPort() {
        return server.contains("{p}");
    }

    String wordsOfRefusal() {
        return limit.substring(REFUSED.length());
    }

    ForeignClient longer(int factor) {
        return new ForeignClient(id, limit, Integer.toString(Integer.parseInt(length) * factor), server, client, proof);
    }

    /**
     * The ranks' shell; the client waits for a file, which says that the server listens: a refused connection is an
     * error.
     */
    String script(int port, Path go) {
        return "if [ $PMI_RANK = 0 ]; then exec env %s; else until [ -e '%s' ]; do sleep 0.1; done; exec env %s; fi"
                .formatted(filled(server, port), go, filled(client, port));
    }

    boolean hasPassed(String output) {
        return proof.equals("-") || Pattern.compile(filled(proof, 0), Pattern.MULTILINE).matcher(output).find();
    }

    private String filled(String text, int port) {
        return text.replace("{n}", length).replace("{p}", Integer.toString(port));
    }

    boolean isInstalled() {
        String program = client.substring(0, client.indexOf(' '));
        return List.of(System.getenv("PATH").split(":")).stream()
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    }

    @Override
    public String toString() {
        return id;
    }
}
