package org.udckpt.ud;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.udckpt.address.AddressMap;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.fuzz.Quiet;
import org.udckpt.layout.Layout;

/**
 * What a process of the job asks its agent: the first byte says by which connection. The thread that serves it ends in
 * order, whatever is asked.
 */
@Fuzzes({ControlServer.class, RequestServer.class, LibraryConnection.class, CmDirectory.class, MirroredKeys.class,
        RankNumbers.class})
public final class RequestFuzz {
    private static final AtomicReference<Throwable> FAILED = new AtomicReference<>();

    static {
        Quiet.begin();
    }

    private RequestFuzz() {}

    /** One agent for all inputs of a fuzzer would make findings that cannot be repeated. */
    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        if (input.length == 0) {
            return;
        }
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        FAILED.set(null);
        Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "fuzz");
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> FAILED.set(failure));
        try (Node node = new Node(directory, new AddressMap(), 2);
                SocketChannel process = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            process.connect(UnixDomainSocketAddress.of(directory.resolve("agent.sock")));
            int role = (input[0] & 1) == 0 ? Layout.ROLE_REQUEST : Layout.ROLE_CONTROL;
            talk(process,
                    MessageCodec.encode(new Message.Hello(0, Layout.LAYOUT_HASH, -1, 5, role, 963, 0, -1, -1)).array(),
                    input);
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
            remove(directory);
        }
        if (FAILED.get() != null) {
            throw new AssertionError("the thread that serves a process has ended", FAILED.get());
        }
    }

    private static void talk(SocketChannel process, byte[] hello, byte[] input) {
        try {
            write(process, ByteBuffer.wrap(hello));
            write(process, ByteBuffer.wrap(input, 1, input.length - 1));
            process.shutdownOutput();
            ByteBuffer answers = ByteBuffer.allocate(1 << 16);
            while (process.read(answers.clear()) >= 0) {} // until it has answered all
        } catch (IOException e) {
            // it has hung up on us, as it may
        }
    }

    private static void write(SocketChannel process, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            process.write(bytes);
        }
    }

    private static void remove(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            all.sorted(Comparator.reverseOrder()).forEach(path -> {
                try {
                    Files.deleteIfExists(path);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
