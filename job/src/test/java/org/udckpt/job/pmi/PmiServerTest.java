package org.udckpt.job.pmi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
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

    /** The rank's end of a connection. */
    private static final class Client implements AutoCloseable {
        private final SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        private final BufferedReader reader = new BufferedReader(new InputStreamReader(Channels.newInputStream(channel)));

        Client(Path socket, int rank) throws IOException {
            channel.connect(UnixDomainSocketAddress.of(socket));
            say("rank=" + rank);
        }

        void say(String line) throws IOException {
            channel.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.US_ASCII)));
        }

        String ask(String line) throws IOException {
            say(line);
            return reader.readLine();
        }

        String hear() throws IOException {
            return reader.readLine();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

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
        try (Client rank = new Client(socket(), 0)) {
            assertEquals("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0", rank.ask("cmd=init pmi_version=1 pmi_subversion=1"));
            assertEquals("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024", rank.ask("cmd=get_maxes"));
            assertEquals("cmd=appnum appnum=0", rank.ask("cmd=get_appnum"));
            assertEquals("cmd=my_kvsname kvsname=kvs_test", rank.ask("cmd=get_my_kvsname"));
            assertEquals("cmd=universe_size size=2", rank.ask("cmd=get_universe_size"));
            assertEquals("cmd=get_result rc=0 msg=success value=(vector,(0,1,2))", rank.ask("cmd=get kvsname=kvs_test key=PMI_process_mapping"));
            assertEquals(PmiPhase.INITIALISED, server.phase(0));
            assertEquals("cmd=finalize_ack", rank.ask("cmd=finalize"));
        }
        assertEquals(PmiPhase.FINALISED, server.phase(0));
        assertNull(heard.poll(100, TimeUnit.MILLISECONDS), "a finalised rank that leaves is no event");
    }

    @Test
    void aBarrierHoldsUntilTheLastAndPublishesWhatWasPut() throws Exception {
        try (Client first = new Client(socket(), 0); Client second = new Client(socket(), 1)) {
            assertEquals("cmd=put_result rc=0 msg=success", first.ask("cmd=put kvsname=kvs_test key=k value=v"));
            assertTrue(first.ask("cmd=put kvsname=kvs_test key=k value=w").contains("rc=-1"), "a key is put once");
            first.say("cmd=barrier_in");
            assertTrue(second.ask("cmd=get kvsname=kvs_test key=missing").startsWith("cmd=get_result rc=-1"));
            assertTrue(server.state().ranks().get(0).inBarrier());
            assertEquals("cmd=barrier_out", second.ask("cmd=barrier_in"));
            assertEquals("cmd=barrier_out", first.hear());
            assertEquals("cmd=get_result rc=0 msg=success value=v", second.ask("cmd=get kvsname=kvs_test key=k"));
            assertTrue(second.ask("cmd=getbyidx kvsname=kvs_test idx=1").startsWith("cmd=getbyidx_results rc=0 nextidx=2 key=k"));
            assertEquals("cmd=getbyidx_results rc=-2 reason=no_more_keyvals", second.ask("cmd=getbyidx kvsname=kvs_test idx=2"));
        }
    }

    @Test
    void aRestoredServerGoesOnInsideABarrier() throws Exception {
        PmiState state;
        try (Client first = new Client(socket(), 0)) {
            first.ask("cmd=init pmi_version=1 pmi_subversion=1");
            first.ask("cmd=put kvsname=kvs_test key=k value=v");
            first.say("cmd=barrier_in");
            while (!server.state().ranks().get(0).inBarrier()) {
                Thread.sleep(1);
            }
            state = server.state();
        }
        Path again = directory.resolve("again.sock");
        try (PmiServer restored = PmiServer.restore(again, RankSpan.all(2), state, listener);
                Client first = new Client(again, 0); Client second = new Client(again, 1)) {
            assertEquals("cmd=get_result rc=0 msg=success value=v", second.ask("cmd=get kvsname=kvs_test key=k"));
            awaitJoined(restored, first);
            assertEquals("cmd=barrier_out", second.ask("cmd=barrier_in"));
            assertEquals("cmd=barrier_out", first.hear());
        }
    }

    /** A question that is answered proves that the server knows the connection. */
    private static void awaitJoined(PmiServer server, Client client) throws IOException {
        assertEquals("cmd=appnum appnum=0", client.ask("cmd=get_appnum"));
        assertEquals(2, server.state().ranks().size());
    }

    @Test
    void deathBetweenInitAndFinalizeIsHeard() throws Exception {
        try (Client rank = new Client(socket(), 1)) {
            rank.ask("cmd=init pmi_version=1 pmi_subversion=1");
        }
        assertEquals("lost 1", heard.poll(10, TimeUnit.SECONDS));
    }

    @Test
    void abortCarriesItsCode() throws Exception {
        try (Client rank = new Client(socket(), 1)) {
            rank.say("cmd=abort exitcode=7");
            assertEquals("abort 1 7", heard.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void spawnIsRefusedByNameAndTheConnectionGoesOn() throws Exception {
        try (Client rank = new Client(socket(), 0)) {
            rank.say("mcmd=spawn\nnprocs=1\nexecname=/bin/true\ntotspawns=1\nspawnssofar=1");
            assertTrue(rank.ask("endcmd").startsWith("cmd=spawn_result rc=-1"));
            assertTrue(heard.poll(10, TimeUnit.SECONDS).contains("MPI_Comm_spawn"));
            assertEquals("cmd=appnum appnum=0", rank.ask("cmd=get_appnum"));
        }
    }

    @Test
    void whoDoesNotSpeakPmiEndsTheJobAndNotTheServer() throws Exception {
        try (Client bad = new Client(socket(), 0); Client good = new Client(socket(), 1)) {
            assertNull(bad.ask("cmd=nonsense"));
            assertEquals("abort 0 69", heard.poll(10, TimeUnit.SECONDS)); // the connection ends before the job is told to
            assertEquals("cmd=appnum appnum=0", good.ask("cmd=get_appnum"));
        }
        assertFalse(server.state().ranks().get(0).inBarrier());
    }
}
