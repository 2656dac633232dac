package org.udckpt.launch.pmi;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.address.RankSpan;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.fuzz.Quiet;
import org.udckpt.support.runtime.LineReader;

/** What a rank says to its process manager, after the shepherd's line that says which one it is. */
@Fuzzes({PmiSession.class, PmiLine.class, LineReader.class, PmiServer.class})
public final class PmiFuzz {
    private static final PmiListener NOBODY = new PmiListener() {
        @Override
        public void aborted(int rank, int exitCode) {}

        @Override
        public void lost(int rank) {}

        @Override
        public void contradicted(String why) {}

        @Override
        public void refused(int rank, String reason) {}
    };

    static {
        Quiet.begin();
    }

    private PmiFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "fuzz");
        Path socket = directory.resolve("pmi.sock");
        try (PmiServer server = PmiServer.start(socket, "job", RankSpan.all(2), "(vector,(0,1,2))", NOBODY);
                SocketChannel rank = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            rank.connect(UnixDomainSocketAddress.of(socket));
            write(rank, input);
            ByteBuffer answers = ByteBuffer.allocate(1 << 16);
            while (rank.read(answers.clear()) >= 0) {} // until it has read and answered all
        } finally {
            Files.deleteIfExists(socket);
            Files.delete(directory);
        }
    }

    private static void write(SocketChannel rank, byte[] input) throws IOException {
        try {
            ByteBuffer bytes = ByteBuffer.wrap(input);
            while (bytes.hasRemaining()) {
                rank.write(bytes);
            }
            rank.shutdownOutput();
        } catch (IOException e) {
            // it has hung up on us, as it may
        }
    }
}
