package org.udckpt.launch.pmi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.address.RankSpan;

@Timeout(60)
class PmiServerTest {
    @TempDir
    Path directory;

    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private final PmiListener listener = new PmiListener() {
        @Override
        public void aborted(int rank, int exitCode) {
            heard.add("abort " + rank + " " + exitCode);
        }

        @Override
        public void lost(int rank) {
            heard.add("lost " + rank);
        }

        @Override
        public void contradicted(String why) {
            heard.add("contradicted " + why);
        }

        @Override
        public void refused(int rank, String reason) {
            heard.add("refused " + rank + " " + reason);
        }
    };
    private PmiServer server;

    @BeforeEach
    void start() throws IOException {
        server = PmiServer.start(socket(), "kvs_test", RankSpan.all(2), "(vector,(0,1,2))", listener);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    private Path socket() {
        return directory.resolve("pmi.sock");
    }

    @Test
    void answersWhatMpichAsksAtInit() throws Exception {
        try (PmiClient rank = new PmiClient(socket(), 0)) {
            assertEquals("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
                    rank.ask("cmd=init pmi_version=1 pmi_subversion=1"));
            assertEquals("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024", rank.ask("cmd=get_maxes"));
            assertEquals("cmd=appnum appnum=0", rank.ask("cmd=get_appnum"));
            assertEquals("cmd=my_kvsname kvsname=kvs_test", rank.ask("cmd=get_my_kvsname"));
            assertEquals("cmd=universe_size size=2", rank.ask("cmd=get_universe_size"));
            assertEquals("cmd=get_result rc=0 msg=success value=(vector,(0,1,2))",
                    rank.ask("cmd=get kvsname=kvs_test key=PMI_process_mapping"));
            assertEquals(PmiPhase.INITIALISED, server.phase(0));
            assertEquals("cmd=finalize_ack", rank.ask("cmd=finalize"));
        }
        assertEquals(PmiPhase.FINALISED, server.phase(0));
        assertNull(heard.poll(100, TimeUnit.MILLISECONDS), "a finalised rank that leaves is no event");
    }

    @Test
    void aBarrierHoldsUntilTheLastAndPublishesWhatWasPut() throws Exception {
        try (PmiClient first = new PmiClient(socket(), 0); PmiClient second = new PmiClient(socket(), 1)) {
            assertEquals("cmd=put_result rc=0 msg=success", first.ask("cmd=put kvsname=kvs_test key=k value=v"));
            assertTrue(first.ask("cmd=put kvsname=kvs_test key=k value=w").contains("rc=-1"), "a key is put once");
            first.say("cmd=barrier_in");
            assertTrue(second.ask("cmd=get kvsname=kvs_test key=missing").startsWith("cmd=get_result rc=-1"));
            awaitInBarrier();
            assertEquals("cmd=barrier_out", second.ask("cmd=barrier_in"));
            assertEquals("cmd=barrier_out", first.hear());
            assertEquals("cmd=get_result rc=0 msg=success value=v", second.ask("cmd=get kvsname=kvs_test key=k"));
            assertTrue(second.ask("cmd=getbyidx kvsname=kvs_test idx=1")
                    .startsWith("cmd=getbyidx_results rc=0 nextidx=2 key=k"));
            assertEquals("cmd=getbyidx_results rc=-2 reason=no_more_keyvals",
                    second.ask("cmd=getbyidx kvsname=kvs_test idx=2"));
        }
    }

    @Test
    void aRestoredServerGoesOnInsideABarrier() throws Exception {
        PmiState state;
        try (PmiClient first = new PmiClient(socket(), 0)) {
            first.ask("cmd=init pmi_version=1 pmi_subversion=1");
            first.ask("cmd=put kvsname=kvs_test key=k value=v");
            first.say("cmd=barrier_in");
            awaitInBarrier();
            state = server.state();
        }
        Path again = directory.resolve("again.sock");
        try (PmiServer restored = PmiServer.restore(again, RankSpan.all(2), state, listener);
                PmiClient first = new PmiClient(again, 0); PmiClient second = new PmiClient(again, 1)) {
            assertEquals("cmd=get_result rc=0 msg=success value=v", second.ask("cmd=get kvsname=kvs_test key=k"));
            awaitJoined(restored, first);
            assertEquals("cmd=barrier_out", second.ask("cmd=barrier_in"));
            assertEquals("cmd=barrier_out", first.hear());
        }
    }

    /** Rank 0, whose word may come later than what another has said after it. */
    private void awaitInBarrier() throws InterruptedException {
        while (!server.state().ranks().get(0).inBarrier()) {
            Thread.sleep(1);
        }
    }

    private PmiServer half(PmiPeers others) throws IOException {
        RankSpan span = new RankSpan(4, 1, 8);
        PmiState state = new PmiState("kvs_test", Map.of("PMI_process_mapping", "(vector,(0,8,1))", "own", "v"),
                List.of(new PmiState.RankState(4, PmiPhase.INITIALISED, true)));
        PmiServer half = new PmiServer(directory.resolve("half.sock"), span, state, listener, Duration.ofMillis(200));
        half.join(others);
        return half;
    }

    @Test
    void aRankDoesNotWaitForEverForOtherAgents() throws Exception {
        Others others = new Others();
        try (PmiServer half = half(others); PmiClient rank = new PmiClient(directory.resolve("half.sock"), 4)) {
            assertEquals("cmd=get_result rc=-1 msg=key_k_not_found value=unknown",
                    rank.ask("cmd=get kvsname=kvs_test key=k"));
            assertEquals("cmd=get_result rc=0 msg=success value=v", rank.ask("cmd=get kvsname=kvs_test key=own"),
                    "what its own agent knows is asked of nobody");
            others.answer.completeExceptionally(new IOException("no way"));
            assertTrue(rank.ask("cmd=get kvsname=kvs_test key=k").startsWith("cmd=get_result rc=-1"));
        }
    }

    @Test
    void aRequestIsUnderWayUntilItsAnswerIsSent() throws Exception {
        Others others = new Others();
        try (PmiServer half = half(others); PmiClient rank = new PmiClient(directory.resolve("half.sock"), 4)) {
            assertEquals("cmd=universe_size size=8", rank.ask("cmd=get_universe_size"));
            awaitIdle(half);
            long traffic = half.traffic();
            rank.say("cmd=get kvsname=kvs_test key=k");
            while (half.begun() == half.ended()) {
                Thread.sleep(1);
            }
            assertFalse(half.isQuietSince(half.traffic()), "its answer would be missing in an image");
            others.answer.complete(Map.of("k", "late"));
            assertEquals("cmd=get_result rc=0 msg=success value=late", rank.hear());
            awaitIdle(half);
            assertFalse(half.isQuietSince(traffic));
            assertTrue(half.isQuietSince(half.traffic()));
            assertEquals(traffic + 2, half.traffic());
        }
    }

    @Test
    void whatIsExpectedIsAskedForInOneGo() throws Exception {
        Others others = new Others();
        try (PmiServer half = half(others); PmiClient rank = new PmiClient(directory.resolve("half.sock"), 4)) {
            others.answer.complete(Map.of("k", "1", "l", "2"));
            for (String key : List.of("k", "l", "m")) {
                rank.say("cmd=expect kvsname=kvs_test key=" + key);
            }
            rank.say("cmd=expect kvsname=other key=x");
            assertEquals("cmd=get_result rc=0 msg=success value=v", rank.ask("cmd=get kvsname=kvs_test key=own"));
            assertEquals(Set.of(), others.asked, "what its own agent knows is asked of nobody");
            assertEquals("cmd=get_result rc=0 msg=success value=2", rank.ask("cmd=get kvsname=kvs_test key=l"));
            assertEquals(Set.of("k", "l", "m"), others.asked);
            assertTrue(rank.ask("cmd=get kvsname=kvs_test key=m").startsWith("cmd=get_result rc=-1"));
            assertEquals(Set.of("m"), others.asked, "each is expected once");
        }
    }

    private static void awaitIdle(PmiServer server) throws InterruptedException {
        while (server.begun() != server.ended()) {
            Thread.sleep(1);
        }
    }

    @Test
    void othersAreToldOfAnEarlierIncarnationButNotOfWhatTheyKnow() throws Exception {
        Others others = new Others();
        try (PmiServer half = half(others); PmiClient rank = new PmiClient(directory.resolve("half.sock"), 4)) {
            assertEquals(Map.of("own", "v"), others.pairs);
            assertEquals(1, others.entered);
            assertTrue(rank.ask("cmd=getbyidx kvsname=kvs_test idx=0").startsWith("cmd=getbyidx_results rc=-1"));
            assertTrue(heard.poll(10, TimeUnit.SECONDS).startsWith("refused 4 PMI's getbyidx"));
            assertTrue(half.state().ranks().getFirst().inBarrier());
            half.release();
            assertEquals("cmd=barrier_out", rank.hear());
            assertFalse(half.state().ranks().getFirst().inBarrier());
            assertThrows(IllegalStateException.class, half::release);
        }
    }

    @Test
    void aStateOfOtherRanksIsRefused() {
        PmiState state = new PmiState("kvs_test", Map.of(), List.of(new PmiState.RankState(3, PmiPhase.SILENT, false)));
        assertThrows(IllegalArgumentException.class,
                () -> PmiServer.restore(directory.resolve("other.sock"), new RankSpan(4, 1, 8), state, listener));
        assertThrows(IllegalStateException.class, () -> server.join(new Others()), "a job whose ranks are all here");
    }

    /** Agents that note what they are told, and answer when the test says so. */
    private static final class Others implements PmiPeers {
        private final Map<String, String> pairs = new HashMap<>();
        private final CompletableFuture<Map<String, String>> answer = new CompletableFuture<>();
        private Set<String> asked = Set.of();
        private int entered;

        @Override
        public void put(Map<String, String> put) {
            pairs.putAll(put);
        }

        @Override
        public CompletableFuture<Map<String, String>> get(Set<String> keys) {
            asked = keys;
            return answer;
        }

        @Override
        public void enter() {
            entered++;
        }

        @Override
        public long traffic() {
            return 0;
        }
    }

    /** A question that is answered proves that the server knows the connection. */
    private static void awaitJoined(PmiServer server, PmiClient client) throws IOException {
        assertEquals("cmd=appnum appnum=0", client.ask("cmd=get_appnum"));
        assertEquals(2, server.state().ranks().size());
    }

    @Test
    void deathBetweenInitAndFinalizeIsHeard() throws Exception {
        try (PmiClient rank = new PmiClient(socket(), 1)) {
            rank.ask("cmd=init pmi_version=1 pmi_subversion=1");
        }
        assertEquals("lost 1", heard.poll(10, TimeUnit.SECONDS));
    }

    @Test
    void abortCarriesItsCode() throws Exception {
        try (PmiClient rank = new PmiClient(socket(), 1)) {
            rank.say("cmd=abort exitcode=7");
            assertEquals("abort 1 7", heard.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void spawnIsRefusedByNameAndTheConnectionGoesOn() throws Exception {
        try (PmiClient rank = new PmiClient(socket(), 0)) {
            rank.say("mcmd=spawn\nnprocs=1\nexecname=/bin/true\ntotspawns=1\nspawnssofar=1");
            assertTrue(rank.ask("endcmd").startsWith("cmd=spawn_result rc=-1"));
            assertTrue(heard.poll(10, TimeUnit.SECONDS).contains("MPI_Comm_spawn"));
            assertEquals("cmd=appnum appnum=0", rank.ask("cmd=get_appnum"));
        }
    }

    @Test
    void whoDoesNotSpeakPmiEndsTheJobAndNotTheServer() throws Exception {
        try (PmiClient bad = new PmiClient(socket(), 0); PmiClient good = new PmiClient(socket(), 1)) {
            assertNull(bad.ask("cmd=nonsense"));
            // the connection ends before the job is told to
            assertEquals("abort 0 69", heard.poll(10, TimeUnit.SECONDS));
            assertEquals("cmd=appnum appnum=0", good.ask("cmd=get_appnum"));
        }
        assertFalse(server.state().ranks().get(0).inBarrier());
    }
}
