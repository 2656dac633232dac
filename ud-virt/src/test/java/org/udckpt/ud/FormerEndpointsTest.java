package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Gid;
import org.udckpt.address.TranslationTable;
import org.udckpt.address.VerbsAddress;

/** Queue pairs that are gone: as long as the table knows them nobody else has their addresses. */
class FormerEndpointsTest {
    /** MOST of FormerEndpoints. */
    private static final int MOST = 1024;
    private static final int LID = 7;

    @TempDir
    Path scratch;
    private final Set<Integer> kept = new HashSet<>();
    private TranslationTable table;
    private FormerEndpoints former;

    @BeforeEach
    void open() throws IOException {
        table = TranslationTable.create(scratch.resolve("table"), 4 * MOST, 0);
        former = new FormerEndpoints(table, real -> {
            if (!kept.add(real.qpn())) {
                throw new IOException("somebody else has it");
            }
            return () -> {
                assertTrue(table.byReal(LID, real.qpn()).isEmpty() || closing,
                        "the table knows it no more when its address is given back");
                kept.remove(real.qpn());
            };
        });
    }

    private boolean closing;

    @AfterEach
    void close() {
        closing = true;
        former.close();
        table.close();
        assertEquals(Set.of(), kept);
    }

    private Endpoint endpoint(int qpn) {
        VerbsAddress address = new VerbsAddress(LID, Gid.ZERO, qpn);
        Endpoint endpoint = new Endpoint(0, address, address);
        table.put(endpoint);
        return endpoint;
    }

    @Test
    void staysKnownWhileItsAddressIsKept() {
        former.destroyed(endpoint(5000));
        assertTrue(table.byReal(LID, 5000).isPresent());
        assertEquals(Set.of(5000), kept);
    }

    @Test
    void isForgottenAtOnceWhereSomebodyElseHasItsAddress() {
        kept.add(5000);
        former.destroyed(endpoint(5000));
        assertTrue(table.byReal(LID, 5000).isEmpty());
        kept.clear();
    }

    @Test
    void theOldestGoWhenThereAreMany() {
        for (int qpn = 5000; qpn < 5000 + MOST + 10; qpn++) {
            former.destroyed(endpoint(qpn));
        }
        assertEquals(MOST, kept.size());
        assertTrue(table.byReal(LID, 5009).isEmpty());
        assertTrue(table.byReal(LID, 5010).isPresent());
    }

    /** A process that has only lost its agent has its addresses itself. */
    @Test
    void whoHasEndedStaysKnown() {
        former.ended(endpoint(5000));
        kept.add(5001);
        former.ended(endpoint(5001));
        assertTrue(table.byReal(LID, 5000).isPresent() && table.byReal(LID, 5001).isPresent());
        kept.remove(5001);
    }

    @Test
    void aNewOneAtItsVirtualAddressIsNotForgottenWithIt() {
        Endpoint first = endpoint(5000);
        former.destroyed(first);
        table.put(new Endpoint(0, first.virtual(), new VerbsAddress(LID, Gid.ZERO, 6000)));
        for (int qpn = 7000; qpn < 7000 + MOST; qpn++) {
            former.destroyed(endpoint(qpn));
        }
        assertEquals(6000, table.byVirtual(LID, 5000).orElseThrow().real().qpn());
    }

    /** A program that is started again and again leaves its queue pairs each time. */
    @Test
    void whoHasEndedTakesNoPlaceOfWhatIsDestroyedLater() {
        for (int qpn = 5000; qpn < 5000 + 2 * MOST; qpn++) {
            former.ended(endpoint(qpn));
        }
        for (int qpn = 8000; qpn < 8010; qpn++) {
            former.destroyed(endpoint(qpn));
        }
        for (int qpn = 8000; qpn < 8010; qpn++) {
            assertTrue(table.byReal(LID, qpn).isPresent() && kept.contains(qpn), "of " + qpn);
        }
        assertEquals(MOST / 2 + 10, kept.size());
    }

    /** Else its number goes to another one while the table has it as the ended process's. */
    @Test
    void whoHasEndedLongAgoIsForgottenAsAWhole() {
        for (int qpn = 5000; qpn <= 5000 + MOST / 2; qpn++) {
            former.ended(endpoint(qpn));
        }
        assertTrue(table.byReal(LID, 5000).isEmpty());
        assertTrue(table.byReal(LID, 5001).isPresent() && kept.contains(5001));
        assertTrue(!kept.contains(5000), "its address is given back");
    }

    @Test
    void theOldestOfBothKindsGoesFirst() {
        former.destroyed(endpoint(4000));
        former.ended(endpoint(4001));
        for (int qpn = 5000; qpn < 5000 + MOST - 1; qpn++) {
            former.destroyed(endpoint(qpn));
        }
        assertTrue(table.byReal(LID, 4000).isEmpty());
        assertTrue(table.byReal(LID, 4001).isPresent());
        former.destroyed(endpoint(7000));
        assertTrue(table.byReal(LID, 4001).isEmpty() && table.byReal(LID, 5000).isPresent());
    }
}
