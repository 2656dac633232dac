package org.udckpt.transport;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * A node in a JVM of its own: {@code LinkPeer NODE ADDRESS PORT}. Reads the job's credential from standard input, as an
 * agent does, then lines: {@code reach NODE ADDRESS}, {@code send NODE TEXT}. Prints {@code ready}, and
 * {@code FROM TEXT} for each message.
 */
public final class LinkPeer {
    private LinkPeer() {}

    public static void main(String[] arguments) throws Exception {
        JobCredential credential = CredentialFile.read(System.in);
        int port = Integer.parseInt(arguments[2]);
        Inbox printing = new Inbox() {
            @Override
            public void message(int from, byte[] message) {
                System.out.println(from + " " + new String(message, StandardCharsets.UTF_8));
            }

            @Override
            public void table(int from, byte[] subject, VectorSchemaRoot table) {
                throw new IllegalStateException("no table is sent here");
            }
        };
        try (TransportEndpoint endpoint = new TransportEndpoint(Integer.parseInt(arguments[0]), 1 << 16,
                new InetSocketAddress(arguments[1], port), credential, printing, TransportLimits.usual());
                BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println("ready");
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ", 3);
                int node = Integer.parseInt(words[1]);
                switch (words[0]) {
                    case "reach" -> endpoint.reach(node, new InetSocketAddress(words[2], port));
                    case "send" -> endpoint.send(node, words[2].getBytes(StandardCharsets.UTF_8));
                    default -> throw new IllegalArgumentException(line);
                }
            }
        }
    }
}
