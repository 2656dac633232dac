package org.udckpt.launch.pmi;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A rank's end of a PMI-1 connection, as the shepherd has begun it. */
public final class PmiClient implements AutoCloseable {
    private final SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    private final BufferedReader reader =
            new BufferedReader(new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.US_ASCII));

    public PmiClient(Path socket, int rank) throws IOException {
        channel.connect(UnixDomainSocketAddress.of(socket));
        say("rank=" + rank);
    }

    public void say(String line) throws IOException {
        channel.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.US_ASCII)));
    }

    /** The answer, or null when the server has ended the connection. */
    public String ask(String line) throws IOException {
        say(line);
        return hear();
    }

    public String hear() throws IOException {
        return reader.readLine();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
