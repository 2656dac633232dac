package org.udckpt.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.address.RankSpan;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

class HostLayoutTest {
    @Test
    void ranksFillHostsInOrder() {
        HostLayout layout = HostLayout.parse("a:2,b,c:3", null);
        assertEquals(6, layout.ranks());
        assertEquals(List.of(2, 1, 3), layout.ranksPerHost());
        assertEquals("b", layout.hostName(2));
        assertEquals(2, layout.localRank(5));
        assertEquals(0, layout.localRank(2));
        assertEquals(1, HostLayout.parse(null, null).ranks());
        assertEquals(4, HostLayout.parse(null, 4).ranks());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a:", "a:0", "a:-1", "a:x", ":2", "a:1:2", "a,a", "a:2,,b", "a b"})
    void refusesWhatIsNoLayout(String text) {
        assertEquals(ExitCode.USAGE, assertThrows(Failure.class, () -> HostLayout.parse(text, null)).code());
    }

    @Test
    void anAgentHasWholeHosts() {
        HostLayout layout = HostLayout.parse("a:2,b,c:3");
        assertEquals(List.of(new HostLayout.Host("b", 1), new HostLayout.Host("c", 3)),
                layout.hosts(new RankSpan(2, 4, 6)));
        assertEquals(layout.hosts(), layout.hosts(RankSpan.all(6)));
        assertThrows(IllegalArgumentException.class, () -> layout.hosts(new RankSpan(1, 2, 6)));
        assertThrows(IllegalArgumentException.class, () -> layout.hosts(new RankSpan(0, 4, 6)));
        assertThrows(IllegalArgumentException.class, () -> layout.hosts(new RankSpan(0, 2, 2)));
    }

    @Test
    void soManyRanksAreAnAgentsAndMoreAJobs() {
        HostLayout layout = HostLayout.parse("a:1000,b:1000");
        assertEquals(1, layout.hosts(new RankSpan(1000, 1000, 2000)).size());
        assertEquals(ExitCode.USAGE, assertThrows(Failure.class, () -> layout.hosts(RankSpan.all(2000))).code());
        assertEquals(ExitCode.USAGE, assertThrows(Failure.class, () -> HostLayout.parse("a:1000,b:1000", null)).code());
    }

    @Test
    void refusesCountsThatDisagree() {
        assertEquals(ExitCode.USAGE, assertThrows(Failure.class, () -> HostLayout.parse("a:2,b:2", 3)).code());
        assertEquals(ExitCode.USAGE, assertThrows(Failure.class, () -> HostLayout.parse(null, 0)).code());
    }
}
