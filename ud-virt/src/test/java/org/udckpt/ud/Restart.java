package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.address.HostAddress;

/** A restart without a new process: what a restored one does not have is taken away, then the library rebuilds. */
final class Restart {
    private Restart() {}

    /**
     * Quiesce, drain, close the device's descriptors as a new process would not have them, rebuild each rank on a host
     * of its own.
     */
    static Node simulated(Path directory, Node before, List<LibraryConnection> ranks, List<UdClient> clients)
            throws Exception {
        return simulated(directory, before, ranks, clients, 1);
    }

    /** @param lids of each host, one for each port */
    static Node simulated(Path directory, Node before, List<LibraryConnection> ranks, List<UdClient> clients, int lids)
            throws Exception {
        List<Message.Quiesced> owned = ranks.stream().map(rank -> rank.quiesce(Node.SOON)).toList().stream()
                .map(future -> future.join()).toList();
        ranks.stream().map(rank -> rank.settle(Node.SOON)).toList().forEach(future -> future.join());
        ranks.stream().map(rank -> rank.drain(Node.SOON)).toList().forEach(future -> future.join());
        for (int rank = 0; rank < ranks.size(); rank++) {
            int control = ranks.get(rank).descriptor();
            assertTrue(owned.get(rank).descriptors().contains(control), "the control connection is the library's");
            assertTrue(owned.get(rank).ranges().size() >= 2,
                    "table and counters are the library's, and tables of keys");
            assertEquals("closed", clients.get(rank).ask("close " + owned.get(rank).descriptors().stream()
                    .filter(fd -> fd != control).distinct().map(String::valueOf).collect(Collectors.joining(" "))));
        }
        Node next = new Node(directory, before.map.nextIncarnation(), ranks.size());
        List<HostAddress> hosts = ranks.stream().map(rank -> next.map.newHost("host" + rank.rank(), lids)).toList();
        try {
            for (int rank = 0; rank < ranks.size(); rank++) {
                ranks.get(rank).rebuild(next.rebuild(hosts.get(rank)), Node.SOON).join();
            }
            Node.connectAndResume(ranks);
            return next;
        } catch (RuntimeException e) {
            next.close();
            throw e;
        }
    }
}
