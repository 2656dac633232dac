package org.udckpt.linux;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The TCP sockets of a network namespace, as /proc/net/tcp and tcp6 list them
 * (Documentation/networking/proc_net_tcp.rst): also those that no process has a descriptor of. Needs no rights.
 */
public final class TcpTable {
    public static final int ESTABLISHED = 1, SYN_SENT = 2, SYN_RECV = 3, FIN_WAIT1 = 4, FIN_WAIT2 = 5, TIME_WAIT = 6,
            CLOSE = 7, CLOSE_WAIT = 8,
            LAST_ACK = 9, LISTEN = 10, CLOSING = 11;

    /**
     * {@code inode} 0: no descriptor; a connection that waits to be accepted, or is closed and on its way out.
     *
     * @param unacknowledged bytes sent; like {@code unread} it counts the end of the stream as a byte
     */
    public record Entry(TcpAddress local, TcpAddress remote, int state, long unacknowledged, long unread, long inode) {}

    private record Ends(TcpAddress local, TcpAddress remote) {}

    private final List<Entry> entries;
    /** Those that do not listen: a job may have thousands, and asks for each. */
    private final Map<Ends, Entry> connections = new HashMap<>();

    private TcpTable(List<Entry> entries) {
        this.entries = entries;
        for (Entry entry : entries) {
            if (entry.state != LISTEN) {
                connections.putIfAbsent(new Ends(entry.local, entry.remote), entry);
            }
        }
    }

    /** The table of the network namespace of {@link NetworkCalls#in}. */
    public static TcpTable now() {
        return new TcpTable(entries(NetworkCalls.process(), "tcp"));
    }

    /**
     * Inodes of the sockets in the namespace of {@link NetworkCalls#in} with this local port that a process has.
     *
     * @param protocol "tcp" or "udp", whose tables have the same columns
     */
    public static List<Long> inodes(String protocol, int port) {
        return entries(NetworkCalls.process(), protocol).stream()
                .filter(entry -> entry.local.port() == port && entry.inode != 0)
                .map(Entry::inode)
                .toList();
    }

    /**
     * To whom a socket is connected whose other end has no port, of which getpeername(2) says that it is not connected;
     * empty: to nobody.
     *
     * @param protocol "raw" or "icmp", whose tables have the same columns
     */
    public static Optional<TcpAddress> remote(String protocol, long inode) {
        return entries(NetworkCalls.process(), protocol).stream()
                .filter(entry -> entry.inode == inode && !entry.remote.any())
                .map(Entry::remote)
                .findFirst();
    }

    private static List<Entry> entries(String process, String protocol) {
        List<Entry> all = new ArrayList<>();
        for (String file : List.of(protocol, protocol + "6")) {
            String path = "/proc/" + process + "/net/" + file;
            if (java.nio.file.Files.exists(java.nio.file.Path.of(path))) {
                Proc.text(path).lines().skip(1).forEach(line -> all.add(entry(line.strip().split("\\s+"))));
            }
        }
        return all;
    }

    /** Words: number, local, remote, state, queues, timer, retransmissions, uid, timeout, inode. */
    private static Entry entry(String[] words) {
        String[] queues = words[4].split(":");
        return new Entry(address(words[1]), address(words[2]), Integer.parseInt(words[3], 16),
                Long.parseLong(queues[0], 16), Long.parseLong(queues[1], 16), Long.parseLong(words[9]));
    }

    /** Words of four bytes, each printed as a number of this machine. */
    private static TcpAddress address(String text) {
        int colon = text.indexOf(':');
        byte[] printed = HexFormat.of().parseHex(text.substring(0, colon));
        byte[] address = new byte[printed.length];
        for (int i = 0; i < address.length; i++) {
            address[i] = printed[i & ~3 | 3 - (i & 3)];
        }
        return TcpAddress.of(address, Integer.parseInt(text.substring(colon + 1), 16), 0);
    }

    /** The socket of exactly this connection, or null. The table does not tell interfaces of link-local addresses. */
    public Entry find(TcpAddress local, TcpAddress remote) {
        return connections.get(new Ends(local.unscoped(), remote.unscoped()));
    }

    /**
     * Whether only sockets that are closed and on their way out (TIME_WAIT, ...) have this local port, and at least
     * one.
     */
    public boolean leaving(int port) {
        List<Entry> users = entries.stream()
                .filter(entry -> entry.local.port() == port && entry.inode == 0 && entry.state != LISTEN).toList();
        return !users.isEmpty()
                && users.stream().allMatch(entry -> entry.state != ESTABLISHED && entry.state != CLOSE_WAIT)
                && entries.stream().noneMatch(entry -> entry.local.port() == port && entry.state == LISTEN);
    }
}
