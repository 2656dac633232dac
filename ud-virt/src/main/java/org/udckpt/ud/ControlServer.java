package org.udckpt.ud;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.udckpt.address.AddressAuthority;
import org.udckpt.address.TranslationTable;
import org.udckpt.layout.Layout;
import org.udckpt.linux.UnixPeer;

/**
 * The agent's socket for the ranks' libraries: {@code agent.sock} of the runtime directory. A process connects when it
 * opens its first device, twice: role CONTROL, kept here as a {@link LibraryConnection}, and role REQUEST, answered
 * from the {@link AddressAuthority}. One that never opens a device is never seen here. A restore connects in a
 * process's name and puts the connection under the old descriptor number; the process answers when it runs, so nothing
 * times out here.
 */
public final class ControlServer implements AutoCloseable {
    private static final long ACCEPT_PAUSE_NS = 200_000_000;

    private final Path socket;
    private final int generation;
    private final AddressAuthority authority;
    private final TranslationTable table;
    private final CmDirectory ports = new CmDirectory();
    private final FormerEndpoints former;
    private final MirroredKeys keys;
    private final RankHosts hosts;
    private final RankNumbers numbers;
    private final IntConsumer left;
    private final ServerSocketChannel server;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
    private final List<LibraryConnection> connections = new CopyOnWriteArrayList<>();

    private ControlServer(Path socket, int generation, AddressAuthority authority, TranslationTable table,
            RankHosts hosts, RankNumbers numbers, PortKeeper keeper, IntConsumer left,
            ServerSocketChannel server) {
        this.socket = socket;
        this.generation = generation;
        this.authority = authority;
        this.table = table;
        this.former = new FormerEndpoints(table, keeper);
        this.keys = new MirroredKeys(socket.getParent(), authority.keys());
        this.hosts = hosts;
        this.numbers = numbers;
        this.left = left;
        this.server = server;
    }

    /**
     * Listens and serves on threads of its own.
     *
     * @param runtimeDir holds agent.sock (made here), table and counters (made before)
     * @param generation of the job's incarnation; sent in IDENTIFY
     * @param hosts      tells a process that opens its first device where it is
     * @param numbers    gives it its rank
     * @param keeper     takes the addresses of queue pairs that are gone
     * @param left       told of each process that will handle faults of its memory itself (userfaultfd(2)), as this
     *                   process numbers it, before it does
     */
    public static ControlServer start(Path runtimeDir, int generation, AddressAuthority authority,
            TranslationTable table,
            RankHosts hosts, RankNumbers numbers, PortKeeper keeper, IntConsumer left)
            throws IOException {
        Path socket = runtimeDir.resolve("agent.sock");
        ServerSocketChannel server = UnixPeer.listen(socket, 1024);
        ControlServer it =
                new ControlServer(socket, generation, authority, table, hosts, numbers, keeper, left, server);
        Thread.ofPlatform().daemon().name("udckpt-control").start(it::accept);
        return it;
    }

    /** The control connections of now, in rank order. */
    public List<LibraryConnection> connections() {
        return connections.stream().sorted((one, other) -> one.rank() != other.rank()
                ? Integer.compare(one.rank(), other.rank()) : Integer.compare(one.pid(), other.pid())).toList();
    }

    /**
     * Waits until ranks 0 to {@code ranks - 1} have at least one control connection each.
     *
     * @throws LibraryException naming the missing ranks, when the time is over
     */
    public synchronized void await(int ranks, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            List<Integer> missing = IntStream.range(0, ranks)
                    .filter(rank -> connections.stream().noneMatch(c -> c.rank() == rank)).boxed().toList();
            if (missing.isEmpty()) {
                return;
            }
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new LibraryException(
                        "ranks " + missing + " did not connect to " + socket + " within " + timeout.toMillis() + " ms");
            }
            wait(left);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (SocketChannel channel : open) {
            channel.close();
        }
        Files.deleteIfExists(socket);
        former.close();
        keys.close();
    }

    /** Where accept(2) fails for want of descriptors, the process waits in the backlog until there is one. */
    private void accept() {
        boolean failing = false;
        boolean stranger = false;
        while (server.isOpen()) {
            try {
                SocketChannel channel = UnixPeer.accept(server);
                failing = false;
                open.add(channel);
                Thread.ofVirtual().name("udckpt-rank").start(() -> serve(channel));
            } catch (UnixPeer.Stranger e) {
                if (!stranger) {
                    System.err.println("udckpt: " + e.getMessage() + ": refused (reported once)");
                }
                stranger = true;
            } catch (IOException e) {
                if (server.isOpen() && !failing) {
                    System.err.println(
                            "udckpt: " + socket + ": accept: " + e.getMessage() + "; trying again until it works");
                }
                failing = true;
                LockSupport.parkNanos(ACCEPT_PAUSE_NS);
            }
        }
    }

    private void serve(SocketChannel socketChannel) {
        try (MessageChannel channel = new MessageChannel(socketChannel)) {
            channel.write(new Message.Identify(0, Layout.LAYOUT_HASH, generation));
            if (!(channel.read() instanceof Message.Hello told)) {
                throw new IOException("the first message is not HELLO");
            }
            Message.Hello hello = told.of(JobPid.of(UnixPeer.process(socketChannel), told.pid()));
            if (hello.layoutHash() != Layout.LAYOUT_HASH) {
                throw new IOException("pid %d has a library of another build (layout 0x%x, this one has 0x%x)"
                        .formatted(hello.pid(), hello.layoutHash(), Layout.LAYOUT_HASH));
            }
            switch (hello.role()) {
                case Layout.ROLE_CONTROL -> control(channel, hello);
                case Layout.ROLE_REQUEST -> requests(channel, hello);
                case Layout.ROLE_MEMORY -> left.accept(UnixPeer.process(socketChannel)); // then the connection ends
                default -> throw new IOException("pid " + hello.pid() + ": unknown role " + hello.role());
            }
        } catch (IOException e) {
            // A process that ended, or that a restore gave up, is no news: its owner learns it from the shepherd.
            if (server.isOpen() && !peerEnded(e)) {
                System.err.println("udckpt: " + socket + ": " + e.getMessage());
            }
        } finally {
            open.remove(socketChannel);
        }
    }

    /** Closed in order, closed with our message unread, or closed before we wrote. */
    private static boolean peerEnded(IOException e) {
        return e instanceof EOFException || e instanceof SocketException || "Broken pipe".equals(e.getMessage());
    }

    private void control(MessageChannel channel, Message.Hello hello) throws IOException {
        if (hello.rank() >= 0 && !numbers.hold(new RankNumbers.Rank(hello.rank(), hello.pid(), hello.mpiRank()))) {
            throw new IOException("pid " + hello.pid() + " claims to be rank " + hello.rank()
                    + ", which is a different process");
        }
        LibraryConnection connection = new LibraryConnection(channel, hello);
        connections.add(connection);
        synchronized (this) {
            notifyAll();
        }
        IOException end = connection.serve();
        connections.remove(connection);
        numbers.release(hello.rank(), hello.pid());
        throw end;
    }

    private void requests(MessageChannel channel, Message.Hello hello) throws IOException {
        RequestServer requests = new RequestServer(authority, table, former, hosts, ports, keys, numbers, hello);
        try {
            while (true) {
                channel.write(requests.answer(channel.read()));
            }
        } finally {
            requests.close();
        }
    }
}
