package org.udckpt.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.address.Endpoint;

/** Reliable connections over checkpoints and restarts: what was posted happens once, in order, and is told once. */
@Timeout(270)
class RcVirtualizationTest {
    /** A command to one of the two ends, and its answer; %d is the number of earlier rounds. */
    private record Step(int rank, String command, String answer) {
        static Step of(int rank, String command, String answer) {
            return new Step(rank, command, answer);
        }
    }

    private static final String SEND = "opcode 0", WRITE = "opcode 1", READ = "opcode 2", ADD = "opcode 4",
            RECEIVE = "opcode 128", RECEIVE_WRITE = "opcode 129";

    /**
     * Rank 0 sends, writes, reads and adds; what it posts in the middle waits for a receive of rank 1. Slots are work
     * request numbers. The receive slots of rank 1 are 1, 2 and 4, its memory for writes slot 20, its counter slot 30.
     */
    private static final List<Step> SCRIPT = List.of(
            Step.of(1, "receive 1 4096", "posted 0"),
            Step.of(0, "send 1 0 100 11 -", "posted 0"),
            Step.of(1, "poll receives", "completion 1 status 0 " + RECEIVE + " bytes 100 imm 0"),
            Step.of(1, "check 1 100 11", "right"),
            Step.of(0, "send-imm 2 0 5000 12 s", "posted 0"),
            Step.of(0, "add 3 30 8 7 s", "posted 0"),
            Step.of(0, "send 4 0 48 13 i", "posted 0"),
            Step.of(0, "write 5 20 3000 14 -", "posted 0"),
            Step.of(0, "read 6 20 3000 0 sf", "posted 0"),
            Step.of(0, "empty", "empty"),
            Step.of(1, "receive 2 8192", "posted 0"),
            Step.of(0, "poll sends", "completion 2 status 0 " + SEND + " bytes 0 imm 0"),
            Step.of(0, "poll sends", "completion 3 status 0 " + ADD + " bytes 0 imm 0"),
            Step.of(0, "value 3", "value %d"),
            Step.of(1, "receive 4 64", "posted 0"),
            Step.of(0, "poll sends", "completion 6 status 0 " + READ + " bytes 0 imm 0"),
            Step.of(0, "check 6 3000 14", "right"),
            Step.of(1, "poll receives", "completion 2 status 0 " + RECEIVE + " bytes 5000 imm 12"),
            Step.of(1, "check 2 5000 12", "right"),
            Step.of(1, "poll receives", "completion 4 status 0 " + RECEIVE + " bytes 48 imm 0"),
            Step.of(1, "check 4 48 13", "right"),
            Step.of(1, "check 20 3000 14", "right"),
            Step.of(0, "receive 9 16", "posted 0"),
            Step.of(1, "write-imm 10 21 9000 15 s", "posted 0"),
            Step.of(1, "poll sends", "completion 10 status 0 " + WRITE + " bytes 0 imm 0"),
            Step.of(0, "poll receives", "completion 9 status 0 " + RECEIVE_WRITE + " bytes 9000 imm 15"),
            Step.of(0, "check 21 9000 15", "right"),
            Step.of(0, "empty", "empty"),
            Step.of(1, "empty", "empty"));

    @TempDir
    Path scratch;

    /** UDCKPT_DATA_PATH. */
    String dataPath() {
        return "fused";
    }

    RcClient client(int rank, Map<String, String> environment) throws Exception {
        return new RcClient(rank, Path.of(System.getProperty("udckpt.native")), environment);
    }

    /** Whether each process is on a node of its own, whose agent asks the other's. */
    boolean apart() {
        return false;
    }

    Incarnations incarnations(String queue, int timeout, Map<String, String> more) throws Exception {
        Map<String, String> all = new HashMap<>(more);
        all.put("UDCKPT_DATA_PATH", dataPath());
        return new Incarnations(scratch, this::client, queue, timeout, all, apart());
    }

    private interface Interruption {
        void happen() throws Exception;
    }

    /** One round; the interruption comes behind step {@code after}. */
    private static void play(Incarnations incarnations, int round, int after, Interruption interruption)
            throws Exception {
        for (int i = 0; i < SCRIPT.size(); i++) {
            Step step = SCRIPT.get(i);
            String qpn = incarnations.address(step.rank()).split(" ")[2];
            String expected = step.answer().replace("%d", Integer.toString(7 * round))
                    + (step.command().startsWith("poll") ? " qp " + qpn : "");
            int at = i;
            assertEquals(expected, incarnations.clients.get(step.rank()).ask(step.command()),
                    () -> "round " + round + " with an interruption behind step " + after + ", step " + at + ": rank "
                            + step.rank() + ", " + step.command());
            if (i == after) {
                interruption.happen();
                for (int rank = 0; rank < 2; rank++) {
                    assertEquals(incarnations.address(rank), incarnations.clients.get(rank).ask("address"),
                            "what the job sees stays");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"own", "srq"})
    void aRestartAtEveryStep(String queue) throws Exception {
        try (Incarnations incarnations = incarnations(queue, 14, Map.of())) {
            List<Endpoint> before = incarnations.map().endpoints();
            for (int step = 0; step < SCRIPT.size(); step++) {
                play(incarnations, step, step, incarnations::nextIncarnation);
                List<Endpoint> now = incarnations.map().endpoints();
                assertEquals(before.stream().map(Endpoint::virtual).toList(),
                        now.stream().map(Endpoint::virtual).toList());
                assertNotEquals(before.stream().map(Endpoint::real).toList(),
                        now.stream().map(Endpoint::real).toList());
                before = now;
            }
        }
    }

    /**
     * A device would answer at once whatever the processors do, and gives a silent one up after 2 s here; ours answers
     * when the process gets its turn.
     */
    @Test
    void aPeerWithoutAProcessorIsNotLost() throws Exception {
        try (Incarnations incarnations = incarnations("own", 14, Map.of())) {
            RcClient sender = incarnations.clients.get(0), peer = incarnations.clients.get(1);
            String qpn = incarnations.address(0).split(" ")[2];
            assertEquals("posted 0", peer.ask("receive 1 4096"));
            peer.stop();
            try {
                assertEquals("posted 0", sender.ask("send 1 0 100 11 s"));
                Thread.sleep(5000);
                assertEquals("empty", sender.ask("empty"));
            } finally {
                peer.signal("CONT");
            }
            assertEquals("completion 1 status 0 " + SEND + " bytes 0 imm 0 qp " + qpn, sender.ask("poll sends"));
        }
    }

    @Test
    void aCheckpointAtEveryStep() throws Exception {
        try (Incarnations incarnations = incarnations("own", 14, Map.of())) {
            for (int step = 0; step < SCRIPT.size(); step++) {
                play(incarnations, step, step, incarnations::checkpoint);
            }
        }
    }

    /** Packets are lost, doubled and overtaken all the time, also while the ranks settle. */
    @Test
    void aRestartOverABadNetwork() throws Exception {
        long seed = System.nanoTime() & 0xffff;
        System.out.println("seed " + seed);
        Map<String, String> faults =
                Map.of("UDCKPT_SOFT_LOSS", "5", "UDCKPT_SOFT_DUPLICATE", "5", "UDCKPT_SOFT_REORDER", "5",
                        "UDCKPT_SOFT_SEED", Long.toString(seed));
        try (Incarnations incarnations = incarnations("own", 18, faults)) {
            int round = 0;
            for (int step = 1; step < SCRIPT.size(); step += 3) {
                play(incarnations, round++, step, incarnations::nextIncarnation);
                play(incarnations, round++, step, incarnations::checkpoint);
            }
        }
    }

    /** A thread that sleeps at the checkpoint is woken by an event of the next incarnation. */
    @Test
    void aSleeperWakesInTheNextIncarnation() throws Exception {
        try (Incarnations incarnations = incarnations("own", 14, Map.of())) {
            for (int incarnation = 0; incarnation < 3; incarnation++) {
                RcClient sleeper = incarnations.clients.get(1);
                assertEquals("posted 0", sleeper.ask("receive 1 4096"));
                assertEquals("armed", sleeper.ask("sleep"));
                incarnations.nextIncarnation();
                assertEquals("posted 0", incarnations.clients.get(0).ask("send 1 0 100 11 s"));
                assertEquals("completion 1 status 0 " + RECEIVE + " bytes 100 imm 0 qp "
                        + incarnations.address(1).split(" ")[2], sleeper.line());
                assertEquals(
                        "completion 1 status 0 " + SEND + " bytes 0 imm 0 qp " + incarnations.address(0).split(" ")[2],
                        incarnations.clients.get(0).ask("poll sends"));
            }
        }
    }

    /**
     * A thread that comes to a closed gate goes on in the next incarnation, with that incarnation's queues and keys.
     */
    @ParameterizedTest
    @ValueSource(strings = {"own", "srq"})
    void whoWaitsAtTheGateGoesOnInTheNextIncarnation(String queue) throws Exception {
        try (Incarnations incarnations = incarnations(queue, 14, Map.of())) {
            RcClient sender = incarnations.clients.get(0), receiver = incarnations.clients.get(1);
            for (int seed : List.of(3, 4, 5)) {
                for (String halves : queue.equals("srq") ? List.of("") : List.of("", " halved")) {
                    // a shared queue takes one element
                    incarnations.nextIncarnation(() -> {
                        assertEquals("begun", receiver.ask("alone receive 1 4096" + halves));
                        Thread.sleep(100); // nothing tells from outside that it is there
                    });
                    assertEquals("posted 0", receiver.line());
                    incarnations.nextIncarnation(() -> {
                        assertEquals("begun",
                                sender.ask("alone send 2 0 100 " + seed + " s" + (halves.isEmpty() ? "" : "h")));
                        Thread.sleep(100);
                    });
                    assertEquals("posted 0", sender.line());
                    incarnations.nextIncarnation(() -> {
                        assertEquals("begun", sender.ask("alone poll sends"));
                        assertEquals("begun", receiver.ask("alone poll receives"));
                        Thread.sleep(100);
                    });
                    assertEquals("completion 2 status 0 " + SEND + " bytes 0 imm 0 qp "
                            + incarnations.address(0).split(" ")[2], sender.line());
                    assertEquals("completion 1 status 0 " + RECEIVE + " bytes 100 imm 0 qp "
                            + incarnations.address(1).split(" ")[2], receiver.line());
                    assertEquals("right", receiver.ask("check 1 100 " + seed));
                }
            }
        }
    }

    /**
     * More than fits under way: the restart comes in the middle of a stream whose every message is counted, some of two
     * elements.
     */
    @Test
    void aStreamIsCutAnywhere() throws Exception {
        try (Incarnations incarnations = incarnations("own", 14, Map.of())) {
            RcClient sender = incarnations.clients.get(0), receiver = incarnations.clients.get(1);
            List<String> told = new ArrayList<>();
            for (int round = 0; round < 6; round++) {
                for (int i = 0; i < 16; i++) {
                    assertEquals("posted 0", receiver.ask("receive " + i + " 16384" + (i % 3 == 2 ? " halved" : "")));
                }
                for (int i = 0; i < 24; i++) {
                    assertEquals("posted 0", sender.ask("send " + i + " 0 " + 600 * (i + 1) + " " + (round + i) + " "
                            + List.of("-", "h", "-", "hs").get(i % 4)));
                }
                incarnations.nextIncarnation();
                for (int i = 16; i < 24; i++) {
                    assertEquals("posted 0", receiver.ask("receive " + i + " 16384"));
                }
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
            assertEquals(24, new HashSet<>(told).size());
        }
    }
}
