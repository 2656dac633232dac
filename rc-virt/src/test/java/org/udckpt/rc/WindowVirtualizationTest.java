package org.udckpt.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Memory windows of rank 1 over checkpoints and restarts: a peer goes on by the keys that it was told, and by no
 * others.
 */
@Timeout(270)
class WindowVirtualizationTest {
    private static final String BIND = "opcode 5", INVALIDATE = "opcode 6";

    @TempDir
    Path scratch;

    private Incarnations incarnations(String dataPath, boolean apart) throws Exception {
        return new Incarnations(scratch,
                (rank, environment) -> new RcClient(rank, Path.of(System.getProperty("udckpt.native")), environment),
                "own", 14, Map.of("UDCKPT_DATA_PATH", dataPath), apart);
    }

    /** A conversation that is interrupted behind one of its steps, by a restart or a checkpoint. */
    private static final class Walk {
        private final Incarnations incarnations;
        private final int cut;
        private final boolean restart;
        private int at;

        Walk(Incarnations incarnations, int cut, boolean restart) {
            this.incarnations = incarnations;
            this.cut = cut;
            this.restart = restart;
        }

        String ask(int rank, String command) throws Exception {
            String answer = incarnations.clients.get(rank).ask(command);
            if (at++ == cut) {
                if (restart) {
                    incarnations.nextIncarnation();
                } else {
                    incarnations.checkpoint();
                }
            }
            return answer;
        }

        void expect(int rank, String command, String answer) throws Exception {
            int step = at;
            String qp = command.startsWith("poll") ? " qp " + incarnations.address(rank).split(" ")[2] : "";
            assertEquals(answer + qp, ask(rank, command),
                    () -> "interrupted behind step " + cut + ", step " + step + ": rank " + rank + ", " + command);
        }

        /** Binds window 0 to slot 20; returns its key. */
        long bind() throws Exception {
            String[] answer = ask(1, "bind 0 20 16384").split(" ");
            assertEquals("0", answer[1]);
            return Long.parseLong(answer[2]);
        }

        /** A write and a read by the key that the peer is aimed at. */
        void use(int seed) throws Exception {
            expect(0, "write 5 20 3000 " + seed + " s", "posted 0");
            expect(0, "poll sends", "completion 5 status 0 opcode 1 bytes 0 imm 0");
            expect(1, "check 20 3000 " + seed, "right");
            expect(0, "read 6 20 3000 0 s", "posted 0");
            expect(0, "poll sends", "completion 6 status 0 opcode 2 bytes 0 imm 0");
            expect(0, "check 6 3000 " + seed, "right");
        }
    }

    /** Returns how many steps it has. */
    private static int converse(Walk walk, int type, int seed) throws Exception {
        long first = walk.bind();
        walk.expect(1, "poll sends", "completion 70 status 0 " + BIND + " bytes 0 imm 0");
        walk.expect(0, "aim " + first, "aimed");
        walk.use(seed);
        if (type == 2) {
            walk.expect(1, "take-back 80 " + first, "posted 0");
            walk.expect(1, "poll sends", "completion 80 status 0 " + INVALIDATE + " bytes 0 imm 0");
        }
        walk.expect(1, "send 1 0 100 11 -", "posted 0"); // waits for a receive, and what is posted next waits behind it
        long second = walk.bind();
        assertNotEquals(first, second);
        walk.expect(1, "empty", "empty");
        walk.expect(0, "receive 2 4096", "posted 0");
        walk.expect(1, "poll sends", "completion 70 status 0 " + BIND + " bytes 0 imm 0");
        walk.expect(0, "poll receives", "completion 2 status 0 opcode 128 bytes 100 imm 0");
        walk.expect(0, "aim " + second, "aimed");
        walk.use(seed + 1);
        if (type == 2) {
            walk.expect(1, "receive 3 4096", "posted 0");
            walk.expect(0, "send-inv 4 " + second, "posted 0");
            walk.expect(1, "poll receives", "completion 3 status 0 opcode 128 bytes 16 imm " + second);
            walk.expect(0, "poll sends", "completion 4 status 0 opcode 0 bytes 0 imm 0");
        }
        return walk.at;
    }

    @ParameterizedTest
    @CsvSource({"1,fused,false", "2,fused,false", "1,generic,false", "2,generic,false", "1,generic,true",
            "2,generic,true"})
    void aRestartAtEveryStep(int type, String dataPath, boolean apart) throws Exception {
        try (Incarnations incarnations = incarnations(dataPath, apart)) {
            assertEquals("window", incarnations.clients.get(1).ask("window 0 " + type).split(" ")[0]);
            int steps = converse(new Walk(incarnations, -1, true), type, 1);
            assertTrue(steps > 20);
            for (int step = 0; step < steps; step++) {
                converse(new Walk(incarnations, step, true), type, step);
                converse(new Walk(incarnations, step, false), type, step + 100);
            }
        }
    }

    /** What was given up before, or never bound, is no key in any later incarnation. */
    @ParameterizedTest
    @CsvSource({"1,fused,false", "2,fused,false", "1,generic,false", "2,generic,false", "1,generic,true",
            "2,generic,true"})
    void formerKeysMeanNothing(int type, String dataPath, boolean apart) throws Exception {
        try (Incarnations incarnations = incarnations(dataPath, apart)) {
            assertEquals("window", incarnations.clients.get(1).ask("window 0 " + type).split(" ")[0]);
            assertEquals("window", incarnations.clients.get(1).ask("window 1 " + type).split(" ")[0]);
            Walk walk = new Walk(incarnations, -1, true);
            long former = walk.bind();
            walk.expect(1, "poll sends", "completion 70 status 0 " + BIND + " bytes 0 imm 0");
            incarnations.nextIncarnation();
            if (type == 2) {
                walk.expect(1, "take-back 80 " + former, "posted 0");
                walk.expect(1, "poll sends", "completion 80 status 0 " + INVALIDATE + " bytes 0 imm 0");
            }
            incarnations.nextIncarnation();
            long now = walk.bind();
            walk.expect(1, "poll sends", "completion 70 status 0 " + BIND + " bytes 0 imm 0");
            incarnations.nextIncarnation();
            walk.expect(0, "aim " + now, "aimed");
            walk.use(9);
            walk.expect(0, "aim " + former, "aimed");
            walk.expect(0, "write 5 20 3000 9 s", "posted 0");
            walk.expect(0, "poll sends", "completion 5 status 10 opcode 1 bytes 0 imm 0");
        }
    }
}
