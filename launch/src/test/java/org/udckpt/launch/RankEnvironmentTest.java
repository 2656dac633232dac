package org.udckpt.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.address.AddressMap;
import org.udckpt.address.RankSpan;
import org.udckpt.support.config.Installation;
import org.udckpt.support.runtime.RuntimeDirectory;

/** What a rank gets for its MPI library, and that the user's own settings win. */
class RankEnvironmentTest {
    private static final HostLayout LAYOUT = HostLayout.parse("h0:2");

    @TempDir
    Path scratch;

    private Map<String, String> environment(String device, Map<String, String> users) {
        Installation installation = new Installation(scratch, scratch, scratch, scratch);
        try (HostAddresses addresses = HostAddresses.reserve(LAYOUT, RankSpan.all(2),
                new DeviceChoice(List.of(device)), new AddressMap(), List.of(), 1, "127.77")) {
            return new RankEnvironment(users, installation, new RuntimeDirectory(scratch), LaunchMode.RANKS, LAYOUT,
                    addresses).of(1);
        }
    }

    @Test
    void mvapich2IsToldWhatTheSoftFabricIsLike() {
        assertEquals("19", environment(DeviceChoice.SOFT, Map.of()).get("MV2_FORCE_HCA_TYPE"));
        assertEquals("14",
                environment(DeviceChoice.SOFT, Map.of("MV2_FORCE_HCA_TYPE", "14")).get("MV2_FORCE_HCA_TYPE"));
    }

    @Test
    void mvapich2SeesByItselfWhatARealDeviceIs() {
        assertNull(environment("x", Map.of()).get("MV2_FORCE_HCA_TYPE"));
    }

    @Test
    void ucxHasTheUsersTransports() {
        assertEquals("ud_verbs,self", environment(DeviceChoice.SOFT, Map.of()).get("UCX_TLS"));
        assertEquals("rc_v,self", environment(DeviceChoice.SOFT, Map.of("UCX_TLS", "rc_v,self")).get("UCX_TLS"));
    }
}
