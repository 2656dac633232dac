package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.address.AddressMap;
import org.udckpt.address.HostAddress;

/** When a process becomes the agent's business, and where it learns its address. */
@Timeout(60)
class AttachTest {
    @TempDir
    Path scratch;

    private final AddressMap map = new AddressMap();
    private HostAddress host;
    private HostAddress elsewhere;
    private Node node;

    @BeforeEach
    void start() throws Exception {
        host = map.newHost("a");
        elsewhere = map.newHost("b");
        node = new Node(scratch.resolve("run0"), map, 2, rank -> rank == 0 ? Optional.of(host) : Optional.empty());
    }

    @AfterEach
    void stop() throws Exception {
        node.close();
    }

    @Test
    void aProcessConnectsWhenItOpensItsFirstDevice() throws Exception {
        try (UdClient client = new UdClient(0, node.environment(host))) {
            assertTrue(client.ask("nonsense").startsWith("unknown"), "it runs");
            assertEquals(List.of(), node.server.connections());
            assertTrue(client.ask("open").startsWith("address "));
            node.server.await(1, Node.SOON);
            assertEquals(1, node.server.connections().size());
        }
    }

    @Test
    void theAgentsAddressGoesBeforeTheEnvironments() throws Exception {
        try (UdClient known = new UdClient(0, node.environment(elsewhere));
                UdClient unknown = new UdClient(1, node.environment(elsewhere))) {
            assertTrue(known.ask("open").startsWith("address " + host.lid() + " "), "the agent knows rank 0's host");
            assertTrue(unknown.ask("open").startsWith("address " + elsewhere.lid() + " "), "and not rank 1's");
        }
    }

    @Test
    void aChildOfAProcessWithoutADeviceOpensOne() throws Exception {
        try (UdClient client = new UdClient(0, node.environment(host))) {
            assertTrue(client.ask("forkopen").startsWith("address " + host.lid() + " "));
            assertEquals("child 0", client.line());
            assertTrue(client.ask("open").startsWith("address " + host.lid() + " "), "and its parent after it");
            node.server.await(1, Node.SOON);
            Node.quiesceAndDrain(node.server.connections());
            Node.resume(node.server.connections());
            assertEquals("child 42", client.ask("fork"), "a child of a process with a device may not use it");
        }
    }

    /** Nobody listens: in a first incarnation the address of the environment is right, and the program works. */
    @Test
    void withoutAnAgentTheEnvironmentIsEnough() throws Exception {
        Map<String, String> environment = new TreeMap<>(node.environment(elsewhere));
        environment.put("UDCKPT_RUNTIME_DIR", scratch.resolve("nobody").toString());
        try (UdClient client = new UdClient(0, environment)) {
            assertTrue(client.ask("open").startsWith("address " + elsewhere.lid() + " "));
        }
    }
}
