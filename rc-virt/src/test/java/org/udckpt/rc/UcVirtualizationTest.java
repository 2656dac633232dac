package org.udckpt.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Transport;

/**
 * Unreliable connections over checkpoints and restarts, on the fused path and on
 * the generic one.
 */
@Timeout(270)
class UcVirtualizationTest {
    private record Step(int rank, String command, String answer) {
        static Step of(int rank, String command, String answer) {
            return new Step(rank, command, answer);
        }
    }

    private static final String SEND = "opcode 0", WRITE = "opcode 1", RECEIVE = "opcode 128",
            RECEIVE_WRITE = "opcode 129";

    /**
     * SCRIPT also covers the reverse direction. Nothing is lost, and receives are posted in time, so every message
     * arrives.
     */
    private static final List<Step> SCRIPT = List.of(
            Step.of(1, "receive 1 4096", "posted 0"),
            Step.of(1, "receive 2 8192", "posted 0"),
            Step.of(0, "send 1 0 100 11 -", "posted 0"),
            Step.of(0, "send-imm 2 0 5000 12 s", "posted 0"),
            Step.of(1, "poll receives", "completion 1 status 0 " + RECEIVE + " bytes 100 imm 0"),
            Step.of(1, "check 1 100 11", "right"),
            Step.of(0, "write 5 20 3000 14 -", "posted 0"),
            Step.of(1, "poll receives", "completion 2 status 0 " + RECEIVE + " bytes 5000 imm 12"),
            Step.of(1, "check 2 5000 12", "right"),
            Step.of(0, "poll sends", "completion 2 status 0 " + SEND + " bytes 0 imm 0"),
            Step.of(0, "read 6 20 3000 0 s", "posted 22"),
            Step.of(1, "receive 4 64", "posted 0"),
            Step.of(0, "send 4 0 48 13 i", "posted 0"),
            Step.of(1, "poll receives", "completion 4 status 0 " + RECEIVE + " bytes 48 imm 0"),
            Step.of(1, "check 4 48 13", "right"),
            Step.of(1, "check 20 3000 14", "right"),
            Step.of(0, "receive 9 16", "posted 0"),
            Step.of(1, "write-imm 10 21 9000 15 s", "posted 0"),
            Step.of(1, "poll sends", "completion 10 status 0 " + WRITE + " bytes 0 imm 0"),
            Step.of(0, "poll receives", "completion 9 status 0 " + RECEIVE_WRITE + " bytes 9000 imm 15"),
            Step.of(0, "check 21 9000 15", "right"),
            Step.of(0, "break", "posted 0"),
            Step.of(0, "poll sends", "completion 99 status 4 " + SEND + " bytes 0 imm 0"),
            Step.of(0, "send 7 0 48 16 -", "posted 0"),
            Step.of(0, "poll sends", "completion 7 status 5 " + SEND + " bytes 0 imm 0"),
            Step.of(0, "mend", "mended 0"),
            Step.of(0, "empty", "empty"),
            Step.of(1, "empty", "empty"));

    @TempDir
    Path scratch;

    private Incarnations incarnations(String queue, String dataPath, boolean apart) throws Exception {
        return new Incarnations(scratch,
                (rank, environment) -> new RcClient(rank, Path.of(System.getProperty("udckpt.native")), environment),
                "uc " + queue, 0, Map.of("UDCKPT_DATA_PATH", dataPath), apart);
    }

    private interface Interruption {
        void happen() throws Exception;
    }

    private static void play(Incarnations incarnations, int after, Interruption interruption) throws Exception {
        for (int i = 0; i < SCRIPT.size(); i++) {
            Step step = SCRIPT.get(i);
            String expected =
                    step.answer() +
                            (step.command().startsWith("poll")
                                    ? " qp " + incarnations.address(step.rank()).split(" ")[2] : "");
            int at = i;
            assertEquals(expected, incarnations.clients.get(step.rank()).ask(step.command()),
                    () -> "with an interruption behind step " + after + ", step " + at + ": rank " +
                            step.rank() + ", " + step.command());
            if (i == after) {
                String before = incarnations.clients.get(0).ask("address");
                interruption.happen();
                assertEquals(before, incarnations.clients.get(0).ask("address"),
                        "what the job sees stays, also a broken send queue");
                assertEquals(incarnations.address(1), incarnations.clients.get(1).ask("address"));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"own,fused,false", "srq,fused,false", "own,generic,false", "srq,generic,false", "own,generic,true"})
    void aRestartAtEveryStep(String queue, String dataPath, boolean apart) throws Exception {
        try (Incarnations incarnations = incarnations(queue, dataPath, apart)) {
            List<Endpoint> before = incarnations.map().endpoints();
            assertTrue(before.stream().allMatch(endpoint -> endpoint.transport() == Transport.UC), before::toString);
            for (int step = 0; step < SCRIPT.size(); step++) {
                play(incarnations, step, incarnations::nextIncarnation);
                List<Endpoint> now = incarnations.map().endpoints();
                assertEquals(before.stream().map(Endpoint::virtual).toList(),
                        now.stream().map(Endpoint::virtual).toList());
                assertNotEquals(before.stream().map(Endpoint::real).toList(),
                        now.stream().map(Endpoint::real).toList());
                before = now;
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"fused", "generic"})
    void aCheckpointAtEveryStep(String dataPath) throws Exception {
        try (Incarnations incarnations = incarnations("own", dataPath, false)) {
            for (int step = 0; step < SCRIPT.size(); step++) {
                play(incarnations, step, incarnations::checkpoint);
            }
        }
    }

    /**
     * A send that was posted, with a receive posted for it, arrives once, in whichever incarnation.
     */
    @ParameterizedTest
    @ValueSource(strings = {"fused", "generic"})
    void aStreamIsCutAnywhere(String dataPath) throws Exception {
        try (Incarnations incarnations = incarnations("own", dataPath, false)) {
            RcClient sender = incarnations.clients.get(0), receiver = incarnations.clients.get(1);
            for (int round = 0; round < 4; round++) {
                List<String> told = new ArrayList<>();
                for (int i = 0; i < 24; i++) {
                    assertEquals("posted 0", receiver.ask("receive " + i + " 16384"));
                }
                for (int i = 0; i < 24; i++) {
                    assertEquals("posted 0", sender.ask("send " + i + " 0 " + 600 * (i + 1) + " " + (round + i) + " " +
                            List.of("-", "h", "-", "hs").get(i % 4)));
                }
                incarnations.nextIncarnation();
                for (int i = 0; i < 24; i++) {
                    told.add(receiver.ask("poll receives").split(" qp ")[0]);
                    assertEquals("completion " + i + " status 0 " + RECEIVE + " bytes " + 600 * (i + 1) + " imm 0",
                            told.getLast());
                    assertEquals("right", receiver.ask("check " + i + " " + 600 * (i + 1) + " " + (round + i)));
                }
                for (int i = 3; i < 24; i += 4) {
                    assertEquals("completion " + i, sender.ask("poll sends").split(" status")[0]);
                }
                assertEquals("empty", sender.ask("empty"));
                assertEquals("empty", receiver.ask("empty"));
            }
        }
    }
}
