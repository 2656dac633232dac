package org.udckpt.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The same with each process on a node of its own: remote keys come from the other node's agent. */
class RcNodesTest extends RcGenericPathTest {
    private static final int REGIONS = 40;

    @Override
    boolean apart() {
        return true;
    }

    private static void write(Incarnations incarnations, long key, int seed) throws Exception {
        RcClient writer = incarnations.clients.get(0);
        assertEquals("aimed", writer.ask("aim " + key));
        assertEquals("posted 0", writer.ask("write 5 20 3000 " + seed + " s"));
        assertEquals("completion 5 status 0 opcode 1 bytes 0 imm 0 qp " + incarnations.address(0).split(" ")[2],
                writer.ask("poll sends"));
        assertEquals("right", incarnations.clients.get(1).ask("check 20 3000 " + seed));
    }

    private static long region(Incarnations incarnations) throws Exception {
        String[] answer = incarnations.clients.get(1).ask("region").split(" ");
        assertEquals("region", answer[0]);
        return Long.parseLong(answer[1]);
    }

    /**
     * In each incarnation some are made and some given up, and each is written to at once, later, and in later
     * incarnations. A number that the other node may know by what it was is not given again.
     */
    @Test
    void regionsOfAllIncarnationsAreReached() throws Exception {
        try (Incarnations incarnations = incarnations("own", 14, Map.of("UDCKPT_SOFT_KEYS", "5"))) {
            // each incarnation's device counts from there, so that its keys meet those of earlier ones
            List<Long> regions = new ArrayList<>();
            int seed = 1;
            boolean given = false;
            for (int incarnation = 0; incarnation < 4; incarnation++) {
                Set<Long> dropped = new HashSet<>();
                for (int i = 0; i < REGIONS / 4 && !regions.isEmpty(); i++) {
                    long key = regions.remove(i % regions.size());
                    assertEquals("dropped", incarnations.clients.get(1).ask("drop " + key));
                    dropped.add(key);
                }
                for (int i = 0; i < REGIONS; i++) {
                    long key = region(incarnations);
                    assertTrue(incarnation == 0 || !dropped.contains(key), "key " + key);
                    assertTrue(!regions.contains(key), "key " + key);
                    given |= key >= 0xf0000000L;
                    regions.add(key);
                    write(incarnations, key, seed++);
                }
                incarnations.checkpoint();
                for (long key : regions) {
                    write(incarnations, key, seed++);
                }
                incarnations.nextIncarnation();
                for (long key : regions) {
                    write(incarnations, key, seed++);
                }
            }
            assertTrue(given, "some keys were not the device's");
        }
    }

    /**
     * What was not begun when the checkpoint came, with a key that nobody has: it is looked for when it is posted
     * again.
     */
    @Test
    void aKeyOfNobodyIsLookedForAfterARestart() throws Exception {
        try (Incarnations incarnations = incarnations("own", 14, Map.of())) {
            RcClient writer = incarnations.clients.get(0);
            assertEquals("aimed", writer.ask("aim " + 0xf1234567L));
            assertEquals("posted 0", writer.ask("send 2 0 100 11 s")); // waits for a receive
            assertEquals("posted 0", writer.ask("write 5 20 3000 1 s"));
            incarnations.nextIncarnation();
            assertEquals("posted 0", incarnations.clients.get(1).ask("receive 1 4096"));
            assertEquals("completion 2 status 0",
                    String.join(" ", List.of(writer.ask("poll sends").split(" ")).subList(0, 4)));
            assertEquals("completion 5 status 10",
                    // IBV_WC_REM_ACCESS_ERR
                    String.join(" ", List.of(writer.ask("poll sends").split(" ")).subList(0, 4)));
        }
    }

    /** For the peer's device to refuse: nothing waits, and nothing else is reached. */
    @Test
    void aKeyOfNobodyIsRefusedByTheDevice() throws Exception {
        try (Incarnations incarnations = incarnations("own", 14, Map.of())) {
            incarnations.nextIncarnation();
            RcClient writer = incarnations.clients.get(0);
            assertEquals("aimed", writer.ask("aim " + 0xf1234567L));
            assertEquals("posted 0", writer.ask("write 5 20 3000 1 s"));
            assertEquals("completion 5 status 10",
                    // IBV_WC_REM_ACCESS_ERR
                    String.join(" ", List.of(writer.ask("poll sends").split(" ")).subList(0, 4)));
        }
    }
}
