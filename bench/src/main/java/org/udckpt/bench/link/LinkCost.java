package org.udckpt.bench.link;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.SynchronousQueue;
import org.HdrHistogram.Histogram;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.transport.CredentialFile;
import org.udckpt.transport.Inbox;
import org.udckpt.transport.JobCredential;
import org.udckpt.transport.TransportEndpoint;
import org.udckpt.transport.TransportLimits;

/** What the way between two nodes costs: two JVMs, which talk over loopback. Run by bench/links. */
public final class LinkCost {
    private static final int WARM_UP = 20_000, ROUND_TRIPS = 20_000, SMALL = 100, MIB = 1 << 20;
    private static final Duration LONG = Duration.ofMinutes(2);

    /** Only what is sent alone is echoed: a first byte of 1 asks for it. */
    private static byte[] message(int bytes, boolean echo) {
        byte[] message = new byte[bytes];
        message[0] = (byte) (echo ? 1 : 0);
        return message;
    }

    private final TransportEndpoint endpoint;
    private final SynchronousQueue<byte[]> echoes;

    private LinkCost(TransportEndpoint endpoint, SynchronousQueue<byte[]> echoes) {
        this.endpoint = endpoint;
        this.echoes = echoes;
    }

    /**
     * {@code echo ADDRESS PORT-OF-THE-OTHER}: the other end, which is started by the measuring one; without arguments
     * that one.
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) {
            measure();
        } else {
            echo(arguments[1], Integer.parseInt(arguments[2]));
        }
    }

    private static InetSocketAddress here(String address, int port) throws IOException {
        return new InetSocketAddress(InetAddress.getByName(address), port);
    }

    private static void echo(String address, int otherPort) throws Exception {
        JobCredential credential = CredentialFile.read(System.in);
        CompletableFuture<TransportEndpoint> self = new CompletableFuture<>();
        Inbox echoing = new Inbox() {
            @Override
            public void message(int from, byte[] message) {
                if (message[0] == 1) {
                    self.join().send(from, message);
                }
            }

            @Override
            public void table(int from, byte[] subject, VectorSchemaRoot table) {
                // taken, which is all that is measured
            }
        };
        try (TransportEndpoint endpoint =
                new TransportEndpoint(1, 2, here(address, 0), credential, echoing, TransportLimits.usual())) {
            endpoint.reach(0, here("127.88.0.1", otherPort));
            self.complete(endpoint);
            System.out.println(endpoint.address().getPort());
            System.in.readAllBytes(); // until the other end is gone
        }
    }

    private static void measure() throws Exception {
        long start = System.nanoTime();
        JobCredential credential = JobCredential.generate();
        SynchronousQueue<byte[]> echoes = new SynchronousQueue<>();
        Inbox inbox = new Inbox() {
            @Override
            public void message(int from, byte[] message) throws InterruptedException {
                echoes.put(message);
            }

            @Override
            public void table(int from, byte[] subject, VectorSchemaRoot table) {
                throw new IllegalStateException("the echo sends no tables");
            }
        };
        try (TransportEndpoint endpoint =
                new TransportEndpoint(0, 2, here("127.88.0.1", 0), credential, inbox, TransportLimits.usual())) {
            System.out.printf("an endpoint with a new credential, in a JVM that knew nothing of it   %8.0f ms%n",
                    (System.nanoTime() - start) / 1e6);
            Process other = startEcho(endpoint.address().getPort());
            try {
                CredentialFile.write(other.getOutputStream(), credential);
                BufferedReader lines = other.inputReader(StandardCharsets.US_ASCII);
                endpoint.reach(1, here("127.88.0.2", Integer.parseInt(lines.readLine())));
                new LinkCost(endpoint, echoes).measureAll();
            } finally {
                other.destroy();
                other.waitFor();
            }
        }
    }

    private static Process startEcho(int port) throws IOException {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), LinkCost.class.getName(), "echo",
                "127.88.0.2", Integer.toString(port)));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private void measureAll() throws Exception {
        long start = System.nanoTime();
        roundTrip(SMALL);
        System.out.printf("the first message there and back: two handshakes in cold JVMs         %8.0f ms%n",
                (System.nanoTime() - start) / 1e6);
        for (int i = 0; i < WARM_UP; i++) {
            roundTrip(SMALL);
        }
        for (int bytes : new int[]{SMALL, 10_000, 100_000}) {
            roundTrips(bytes);
        }
        rate(SMALL, 1_000_000);
        rate(1000, 200_000);
        rate(64 << 10, 8000);
        tables();
    }

    private void roundTrip(int bytes) throws InterruptedException {
        endpoint.send(1, message(bytes, true));
        echoes.take();
    }

    private void roundTrips(int bytes) throws InterruptedException {
        Histogram times = new Histogram(3);
        long processor = processorTime();
        for (int i = 0; i < ROUND_TRIPS; i++) {
            long start = System.nanoTime();
            roundTrip(bytes);
            times.recordValue(System.nanoTime() - start);
        }
        System.out.printf(
                "round trip of %7d B, one at a time: median %7.1f us, 99%% below %8.1f us, %6.1f us of one end's "
                        + "processor time%n",
                bytes,
                times.getValueAtPercentile(50) / 1e3, times.getValueAtPercentile(99) / 1e3,
                (processorTime() - processor) / 1e3 / ROUND_TRIPS);
    }

    /** One way, as fast as they go; never more under way than the queue holds, for it would drop the oldest. */
    private void rate(int bytes, int count) throws InterruptedException {
        int burst = Math.max(1, 8 * MIB / (bytes + 4));
        byte[] message = message(bytes, false);
        for (boolean warm : new boolean[]{false, true}) {
            long processor = processorTime(), start = System.nanoTime();
            for (int sent = 0; sent < count; sent++) {
                if (sent % burst == burst - 1 && !endpoint.flush(LONG)) {
                    throw new IllegalStateException("nothing is taken any more");
                }
                endpoint.send(1, message);
            }
            endpoint.flush(LONG);
            double seconds = (System.nanoTime() - start) / 1e9;
            if (warm) {
                System.out.printf(
                        "one way, %7d B each: %9.0f messages/s, %7.1f MB/s, %6.2f us of the sender's processor time "
                                + "each%n",
                        bytes, count / seconds,
                        count / seconds * bytes / 1e6, (processorTime() - processor) / 1e3 / count);
            }
        }
    }

    private void tables() throws Exception {
        int rows = 2 * MIB, count = 32;
        try (BufferAllocator allocator = new RootAllocator();
                BigIntVector numbers = new BigIntVector("number", allocator)) {
            numbers.allocateNew(rows);
            for (int row = 0; row < rows; row++) {
                numbers.set(row, row);
            }
            numbers.setValueCount(rows);
            VectorSchemaRoot table = VectorSchemaRoot.of(numbers);
            for (boolean warm : new boolean[]{false, true}) {
                long start = System.nanoTime();
                for (int i = 0; i < count; i++) {
                    endpoint.table(1, new byte[0], table).get();
                }
                double seconds = (System.nanoTime() - start) / 1e9;
                if (warm) {
                    System.out.printf("tables of %d MB: %9.1f MB/s%n", (long) rows * Long.BYTES / 1_000_000,
                            (double) count * rows * Long.BYTES / seconds / 1e6);
                }
            }
        }
    }

    private static long processorTime() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }
}
