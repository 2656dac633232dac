package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.address.AddressMap;
import org.udckpt.address.HostAddress;
import org.udckpt.address.RemapReport;

/** MPICH over UD verbs while gates close, completions are drained and devices are replaced under it. */
@Timeout(450)
class MpiVirtualizationTest {
    private static final int RANKS = 3;
    private static final int ROUNDS = 12;

    @TempDir
    Path scratch;

    /** Every third round is a restart in the same process: other hosts, other numbers, the old sockets forgotten. */
    @Test
    void theStressTestDoesNotNoticeCheckpointsAndNewAddresses() throws Exception {
        long seed = System.nanoTime();
        System.out.println("MpiVirtualizationTest seed " + seed);
        Random random = new Random(seed);
        List<Node> incarnations = new ArrayList<>();
        Path log = scratch.resolve("log");
        Path finish = scratch.resolve("finish");
        Process mpi = null;
        try {
            incarnations.add(new Node(scratch.resolve("run0"), new AddressMap(), RANKS));
            mpi = start(incarnations.getFirst(), log, finish);
            incarnations.getFirst().server.await(RANKS, Node.SOON);
            List<LibraryConnection> ranks = incarnations.getFirst().server.connections();
            for (int round = 1; round <= ROUNDS; round++) {
                Thread.sleep(100 + random.nextInt(400));
                Node.quiesceAndDrain(ranks);
                if (round % 3 == 0) {
                    incarnations.add(nextIncarnation(incarnations, ranks, 0));
                }
                Node.resume(ranks);
            }
            Thread.sleep(500);
            assertTrue(incarnations.getLast().counters.of(0).udTranslations() > 0,
                    "the last incarnation had traffic:\n" + Files.readString(log));
            Files.createFile(finish);
            assertTrue(mpi.waitFor(60, TimeUnit.SECONDS), "still running:\n" + Files.readString(log));
            assertEquals(0, mpi.exitValue(), "seed " + seed + "\n" + Files.readString(log));
            assertTrue(Files.readString(log).contains("PASS"), Files.readString(log));
        } finally {
            stop(mpi);
            for (Node incarnation : incarnations) {
                incarnation.close();
            }
        }
    }

    /**
     * UCX gives up after 5 s without an answer here; the job is down for 12 s, of which its clock must know nothing.
     */
    @Tag("slow")
    @Test
    void aDowntimeBeyondTheTimeOutOfUcxIsNotNoticed() throws Exception {
        List<Node> incarnations = new ArrayList<>();
        Path log = scratch.resolve("log");
        Path finish = scratch.resolve("finish");
        Process mpi = null;
        try {
            incarnations.add(new Node(scratch.resolve("run0"), new AddressMap(), RANKS));
            mpi = start(incarnations.getFirst(), log, finish);
            incarnations.getFirst().server.await(RANKS, Node.SOON);
            List<LibraryConnection> ranks = incarnations.getFirst().server.connections();
            Thread.sleep(1500);
            Node.quiesceAndDrain(ranks);
            long down = System.nanoTime();
            Thread.sleep(12_000);
            incarnations.add(nextIncarnation(incarnations, ranks, System.nanoTime() - down));
            Node.resume(ranks);
            Thread.sleep(2000);
            assertTrue(incarnations.getLast().counters.of(0).udTranslations() > 0,
                    "the last incarnation had traffic:\n" + Files.readString(log));
            Files.createFile(finish);
            assertTrue(mpi.waitFor(60, TimeUnit.SECONDS), "still running:\n" + Files.readString(log));
            assertEquals(0, mpi.exitValue(), Files.readString(log));
        } finally {
            stop(mpi);
            for (Node incarnation : incarnations) {
                incarnation.close();
            }
        }
    }

    private Process start(Node node, Path log, Path finish) throws Exception {
        HostAddress a = node.map.newHost("a");
        HostAddress b = node.map.newHost("b");
        String library = System.getProperty("udckpt.native");
        String rank =
                ("export UDCKPT_RANK=$PMI_RANK UDCKPT_SOFT_LID=$((PMI_RANK == 0 ? %d : %d)) "
                        + "LD_PRELOAD=%s/libudckpt.so; exec %s/programs/mpi_stress --seconds 100 --finish-file %s")
                        .formatted(a.lid(), b.lid(), library, library, finish);
        ProcessBuilder builder = new ProcessBuilder("mpiexec.mpich", "-n", Integer.toString(RANKS), "sh", "-c", rank)
                .redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(node.environment(a));
        builder.environment().remove("LD_PRELOAD");
        builder.environment().put("UCX_TLS", "ud_verbs,self");
        builder.environment().put("UCX_NET_DEVICES", "soft0:1");
        builder.environment().put("UCX_UD_VERBS_TIMEOUT", "5s");
        return builder.start();
    }

    private Node nextIncarnation(List<Node> incarnations, List<LibraryConnection> ranks, long downtimeNs)
            throws Exception {
        Node before = incarnations.getLast();
        Node next = new Node(scratch.resolve("run" + incarnations.size()), before.map.nextIncarnation(), RANKS);
        List<HostAddress> hosts = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            hosts.add(next.map.newHost("host" + rank));
        }
        for (LibraryConnection rank : ranks) {
            Message.Rebuild order = next.rebuild(hosts.get(rank.rank()));
            rank.rebuild(new Message.Rebuild(0, order.generation(), order.realLid(), order.realLids(), order.qpnFirst(),
                    order.qpnLast(), downtimeNs,
                    order.realGid(), order.device(), order.runtimeDir()), Node.SOON).join();
        }
        RemapReport report = RemapReport.of(before.map.endpoints(), next.map.endpoints());
        assertTrue(report.allMoved(), report.toString());
        return next;
    }

    private static void stop(Process mpi) throws InterruptedException {
        if (mpi != null) {
            List<ProcessHandle> all = mpi.descendants().toList();
            mpi.destroyForcibly().waitFor();
            all.forEach(ProcessHandle::destroyForcibly);
        }
    }
}
