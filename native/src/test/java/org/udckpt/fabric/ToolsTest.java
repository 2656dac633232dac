package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that nobody here wrote run on the fabric: ibverbs-utils and MPICH over UCX. */
class ToolsTest {
    @Test
    void devinfo() throws Exception {
        Native.Result result = Native.run(Map.of("UDCKPT_SOFT_LID", "0x21"), "ibv_devinfo", "-v");
        assertEquals(0, result.exit(), result::toString);
        for (String expected : List.of("hca_id:\\s+soft0", "state:\\s+PORT_ACTIVE", "port_lid:\\s+33",
                "active_mtu:\\s+4096",
                "link_layer:\\s+InfiniBand", "GID\\[\\s*0\\]:\\s+fe80:0000:0000:0000:0250:f7ff:0000:0021")) {
            assertTrue(result.out().lines().anyMatch(line -> line.matches(".*" + expected + ".*")),
                    () -> expected + " not in\n" + result);
        }
        assertEquals("", result.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-e", "-g 0", "-e -g 0", "-s 4096", "-r 4 -n 300"})
    void udPingpong(String options) throws Exception {
        pingpong("ibv_ud_pingpong", options);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-e", "-s 1000000 -n 20", "-m 256 -s 5000", "-r 4 -n 300"})
    void rcPingpong(String options) throws Exception {
        pingpong("ibv_rc_pingpong", options);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-e -q 4"})
    void srqPingpong(String options) throws Exception {
        pingpong("ibv_srq_pingpong", options);
    }

    private static void pingpong(String program, String options) throws Exception {
        int port = freePort();
        List<String> command = new ArrayList<>(List.of(program, "-p", Integer.toString(port)));
        if (!options.isEmpty())
            command.addAll(List.of(options.split(" ")));
        try (Native.Running server = Native.start(Map.of("UDCKPT_SOFT_LID", "1"), command)) {
            awaitListener(server, port);
            command.add("localhost");
            try (Native.Running client = Native.start(Map.of("UDCKPT_SOFT_LID", "2"), command)) {
                for (Native.Running side : List.of(client, server)) {
                    Native.Result result = side.await(60);
                    assertEquals(0, result.exit(), result::toString);
                    assertTrue(result.out().contains("usec/iter"), result::toString);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"ud_verbs,0", "ud_verbs,2", "rc_v,0", "rc_v,2"})
    void mpich(String transport, String loss) throws Exception {
        String library = Native.library().toString();
        Native.Result result =
                Native.run(Map.of("LD_PRELOAD", ""), "mpiexec.hydra", "-n", "2", "-genv", "LD_PRELOAD", library,
                        "-genv", "UDCKPT_VIRTUALIZE", "0", "-genv", "UCX_TLS", transport + ",self", "-genv",
                        "UCX_NET_DEVICES", "soft0:1",
                        "-genv", "UDCKPT_SOFT_LOSS", loss, "-genv", "UDCKPT_SOFT_SEED", "5",
                        Native.program("fabric_mpi").toString());
        assertEquals(0, result.exit(), result::toString);
        assertEquals("right", result.out().strip(), result::toString);
        assertEquals("", result.err());
    }

    /** Hosts with addresses of an ordinary network, as in a namespace of their own behind a veth pair. */
    @ParameterizedTest
    @ValueSource(strings = {"fabric_events sleeper", "fabric_events solicited-sleeper", "fabric_send plain",
            "fabric_address reply"})
    void anotherNetwork(String testCase) throws Exception {
        String[] words = testCase.split(" ");
        String script =
                "ip link set lo up && for h in 0.1 0.7 18.52; do ip addr add 10.9.$h/16 dev lo || exit 99; done; "
                        + "LD_PRELOAD=" + Native.library() + " exec " + Native.program(words[0]) + " " + words[1];
        Native.Result result = Native.run(Map.of("LD_PRELOAD", "", "UDCKPT_SOFT_NET", "10.9"), "unshare",
                "--map-root-user", "--net", "sh", "-c", script);
        assertEquals(0, result.exit(), result::toString);
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** The server takes one connection only, so look at the kernel's table instead of connecting. */
    private static void awaitListener(Native.Running server, int port) throws Exception {
        String listening = String.format(":%04X ", port);
        for (int i = 0; i < 1000 && server.process().isAlive(); i++) {
            for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
                boolean there = Files.readAllLines(Path.of(table)).stream()
                        .anyMatch(line -> line.contains(listening) && line.contains(" 0A "));
                if (there)
                    return;
            }
            Thread.sleep(10);
        }
        throw new AssertionError("the server does not listen: " + server.await(1));
    }
}
