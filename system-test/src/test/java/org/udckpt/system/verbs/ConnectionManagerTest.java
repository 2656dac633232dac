package org.udckpt.system.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.system.cli.Udckpts;

/** rdma_cm in a job: connections are made and ended while the job is checkpointed, killed and restarted. */
@Timeout(600)
class ConnectionManagerTest {
    private static final int INCARNATIONS = 3;

    @TempDir
    Path directory;

    @Tag("slow")
    @Test
    void datagramServicesAreFoundOverRestarts() throws Exception {
        roundsGoOn("udp", 7301);
    }

    /** RC: each connection writes into the other side's memory. */
    @Tag("slow")
    @Test
    void connectionsAreMadeOverRestarts() throws Exception {
        roundsGoOn("tcp", 7302);
    }

    /** Of rdma_getaddrinfo, rdma_connect, rdma_accept, rdma_reject, rdma_join_multicast; and what is seen of them. */
    @Test
    void parametersAreThoseOfTheKernelsConnectionManager() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            String images = directory.resolve("images").toString();
            Udckpts.Result end = udckpts.run("run", "-n", "1", "--name", "parameters", "--dir", images, "--",
                    Udckpts.nativeFile("virtualization/cm_parameters").toString(), "7306");
            assertEquals(0, end.code(), end.toString());
            assertEquals("PASS\n", end.output(), end.toString());
            assertTrue(end.errors().contains("rsocket is not supported: use the kernel's sockets"), end.toString());
        }
    }

    /** As from the kernel's connection manager: a process that exits with an open connection has ended it. */
    @Test
    void otherSideIsToldOfAnExit() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Result end = udckpts.run("run", "-n", "2", "--hosts", "a,b", "--name", "exits", "--dir",
                    directory.resolve("images").toString(), "--",
                    Udckpts.nativeFile("virtualization/cm_exits").toString(), "7304");
            assertEquals(0, end.code(), end.toString());
            assertEquals(2, end.output().lines().filter(line -> line.startsWith("PASS ")).count(), end.toString());
        }
    }

    /** More messages at a time than can be on their way are sent later: cmtime of rdma-core 56. */
    @Test
    void manyAtOnce() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Result end = udckpts.run("run", "-n", "2", "--hosts", "a,b", "--name", "burst", "--dir",
                    directory.resolve("images").toString(), "--",
                    Udckpts.nativeFile("virtualization/cm_burst").toString(), "7309");
            assertEquals(0, end.code(), end.toString());
            assertEquals(2, end.output().lines().filter(line -> line.startsWith("PASS ")).count(), end.toString());
        }
    }

    /** A program that takes its time is not given up: its connection manager answers for it. */
    @Tag("slow")
    @Test
    void busyProgramsAreWaitedFor() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Result end = udckpts.run("run", "-n", "2", "--hosts", "a,b", "--name", "busy", "--dir",
                    directory.resolve("images").toString(), "--",
                    Udckpts.nativeFile("virtualization/cm_busy").toString(), "7310");
            assertEquals(0, end.code(), end.toString());
            assertEquals(2, end.output().lines().filter(line -> line.startsWith("PASS ")).count(), end.toString());
        }
    }

    /** As perftest -R -c UD does; lost datagrams bring requests to a process that has just stopped to listen. */
    @Tag("slow")
    @Test
    void replacedListenerIsNoMissingOne() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            Map<String, String> faults = Map.of("UDCKPT_SOFT_LOSS", "30", "UDCKPT_SOFT_SEED", "11");
            Udckpts.Result end = udckpts.start(faults, new File("/dev/null"), "run", "-n", "2", "--hosts", "a,b",
                    "--name", "replaced", "--dir",
                    directory.resolve("images").toString(), "--",
                    Udckpts.nativeFile("virtualization/cm_replaced").toString(), "7305").await(180);
            assertEquals(0, end.code(), end.toString());
            assertEquals(2, end.output().lines().filter(line -> line.startsWith("PASS ")).count(), end.toString());
        }
    }

    private void roundsGoOn(String portSpace, int port) throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            String images = directory.resolve("images").toString();
            Path finish = directory.resolve("finish");
            Udckpts.Running run =
                    udckpts.start("run", "-n", "2", "--hosts", "a,b", "--name", "cm", "--dir", images, "--",
                            Udckpts.nativeFile("virtualization/cm_rounds").toString(), portSpace,
                            Integer.toString(port), finish.toString());
            for (int i = 0; i < INCARNATIONS - 1; i++) {
                awaitRounds(run);
                Udckpts.Result checkpoint = udckpts.run("checkpoint", "cm", "--then", "kill");
                assertEquals("ckpt-%04d\n".formatted(i + 1), checkpoint.output(), checkpoint + run.soFar().errors());
                assertEquals(0, run.await(120).code(), run.soFar().toString());
                run = udckpts.start("restart", images);
            }
            awaitRounds(run);
            Files.createFile(finish);
            Udckpts.Result end = run.await(120);
            assertEquals(0, end.code(), end.toString());
            List<String> verdicts = end.output().lines().filter(line -> line.startsWith("PASS ")).toList();
            assertEquals(2, verdicts.size(), end.toString());
            assertEquals(verdicts.getFirst(), verdicts.getLast(), "both sides counted the same rounds");
        }
    }

    private static void awaitRounds(Udckpts.Running run) throws Exception {
        while (run.soFar().output().lines().filter(line -> line.startsWith("round ")).count() < 2) {
            assertTrue(run.isAlive(), run.soFar().toString());
            Thread.sleep(20);
        }
    }
}
