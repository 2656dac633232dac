package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Named programs that are no ranks of udckpt's own, {@code udckpt run -- PROGRAM}: each is checkpointed, killed with
 * all that it has started, restored from the image, and has to come to the result of a run that nobody disturbed
 * (docs/user/running.md).
 */
@Timeout(300)
class ProcessTreesTest {
    private static final List<String> WORK = List.of("--grid", "8", "--iterations", "10", "--solves", "80");

    /**
     * mpirun, its ranks and their terminals; the session directory in /tmp is gone when they come back, as after a
     * reboot.
     */
    @Tag("slow")
    @Test
    void openMpi() throws Exception {
        Path program = openMpiProgram("stencil_cg");
        List<String> session = version("ompi_info", "--version") < 5 ? List.of("--mca", "orte_tmpdir_base", "@/session")
                : List.of("--prtemca", "prte_tmpdir_base", "@/session");
        List<String> options = new ArrayList<>(session);
        options.addAll(List.of("--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices",
                "any"));
        launcher("openmpi",
                Stream.concat(mpirun("mpirun.openmpi", options.toArray(String[]::new)),
                        Stream.of(program.toString())).toList(),
                true);
    }

    /** MPICH's own launcher: mpiexec, its proxy and the ranks, which speak PMI to the proxy. */
    @Test
    void hydra() throws Exception {
        launcher("hydra", List.of("mpiexec.hydra", "-n", "2", CommandLine.artifact("programs/stencil_cg").toString()),
                false);
    }

    /**
     * Open MPI without UCX: its own user of verbs, with reliable connections, shared receive queues and a thread for
     * events.
     */
    @Tag("slow")
    @Test
    void openIb() throws Exception {
        Path program = openMpiProgram("stencil_cg");
        assumeTrue(version("ompi_info", "--version") < 5, "Open MPI 5 has no openib");
        launcher("openib", Stream.concat(mpirun("mpirun.openmpi"), Stream.of(program.toString())).toList(),
                Stream.concat(
                        mpirun("mpirun.openmpi", "--mca", "pml", "ob1", "--mca", "btl", "openib,self", "--mca",
                                "btl_openib_allow_ib", "1"),
                        Stream.of(program.toString())).toList(),
                false);
    }

    /** Debian's OpenSHMEM crashes at its end with its hooks for malloc, with or without us. */
    @Tag("slow")
    @Test
    void openShmem() throws Exception {
        rounds("shmem", mpirun("oshrun", "--mca", "memory", "^patcher"), openMpiProgram("symmetric_heap"));
    }

    /** MPI_Win_create, MPI_Win_allocate: by Debian's configuration Open MPI 5 has none where UCX carries messages. */
    @Tag("slow")
    @Test
    void openMpisWindows() throws Exception {
        Path program = openMpiProgram("mpi_stress");
        ProcessTreeJob tree = new ProcessTreeJob(Stream.concat(
                mpirun("mpirun.openmpi", "--mca", "pml", "ucx", "--mca", "osc", "sm,ucx", "--mca", "pml_ucx_tls", "any",
                        "--mca", "pml_ucx_devices", "any"),
                Stream.of(program.toString(), "--finish-file", "@/finish", "--progress", "5")).toList());
        try (tree) {
            tree.start();
            tree.await("iteration");
            assertRanks(tree, "mpi_stress", false);
            tree.checkpointAndKill();
            tree.restart();
            tree.await("iteration");
            assertRanks(tree, "mpi_stress", true);
            tree.finish();
            assertTrue(tree.output().contains("PASS 2 ranks"), tree::text);
            tree.good();
        }
    }

    @Tag("slow")
    @Test
    void coarraysOverOpenMpi() throws Exception {
        rounds("coarray", mpirun("mpirun.openmpi", "--mca", "pml", "ucx", "--mca", "osc", "sm,ucx", "--mca",
                "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"), openMpiProgram("coarray_ring"));
    }

    @Tag("slow")
    @Test
    void coarraysOverMpich() throws Exception {
        Path program = built("programs/coarray_ring", "libcoarrays-mpich-dev");
        // OpenCoarrays may leave a message when it frees a communicator, which MPICH 4.2 takes for an error
        assumeTrue(version("mpiexec.hydra", "--version") < 4.2, "OpenCoarrays ends with an error without udckpt");
        rounds("coarray", Stream.of("mpiexec.hydra", "-n", "2"), program);
    }

    /** What a program says of its version, from the first number on. */
    private static double version(String... command) throws Exception {
        Process info = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(info.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, info.waitFor(), said);
        Matcher number = Pattern.compile("\\d+\\.\\d+").matcher(said);
        assertTrue(number.find(), said);
        return Double.parseDouble(number.group());
    }

    private static Path openMpiProgram(String name) {
        return built("programs/openmpi/" + name, "Open MPI's compilers, and for coarrays libcoarrays-openmpi-dev");
    }

    private static Path built(String name, String missing) {
        Path program = CommandLine.artifact(name);
        assertTrue(Files.exists(program), () -> "not built for want of " + missing); // which the test command installs
        return program;
    }

    private static Stream<String> mpirun(String name, String... words) {
        return Stream.concat(Stream.of(name, "--allow-run-as-root", "--oversubscribe", "-n", "2"), Stream.of(words));
    }

    @Tag("slow")
    @Test
    void pipeline() throws Exception {
        String stages =
                "echo started; (i=0; while [ $i -lt 300 ] || [ ! -e @/finish ]; do [ $i -lt 300 ] && echo $i; "
                        + "i=$((i+1)); sleep 0.01; done)"
                        + " | while read x; do echo $((x * x)); done | tee @/copy.data | awk '{ sum += $1 } END { "
                        + "print \"result\", sum }'";
        ProcessTreeJob.comesBack("pipeline", List.of("/bin/bash", "-c", stages));
    }

    /**
     * What a script has left in the background: it belongs to the shepherd, in the script's session and in one of its
     * own.
     */
    @Tag("slow")
    @Test
    void daemons() throws Exception {
        String counter =
                "exec >> @/$0.log; i=0; while [ $i -lt 200 ] || [ ! -e @/finish ]; do i=$((i+1)); [ $i -le 200 ] && "
                        + "echo $i; sleep 0.01; done; mv @/$0.log @/$0.done";
        String script = "rm -f @/*.done @/*.log; (setsid sh -c '" + counter + "' one &) ; (sh -c '" + counter
                + "' two &); echo started;"
                + " while [ ! -e @/one.done ] || [ ! -e @/two.done ]; do sleep 0.02; done; echo result $(cat "
                + "@/one.done @/two.done | cksum)";
        ProcessTreeJob.comesBack("daemons", List.of("/bin/bash", "-c", script));
    }

    /**
     * A terminal of the job's that no session has for its own: udckpt looks at what is open there, and must not become
     * its session.
     */
    @Test
    void aTerminalOfNobody() throws Exception {
        assumeTrue(new ProcessBuilder("python3", "-c", "").start().waitFor() == 0, "no python3");
        String script =
                "import os, pty, sys, time\nmaster, slave = pty.openpty()\nos.write(slave, "
                        + "b'kept\\n')\nprint('started', flush=True)\n"
                        + "while not os.path.exists(sys.argv[1]): time.sleep(0.02)\nprint('result', os.read(master, "
                        + "100))";
        ProcessTreeJob.comesBack("terminal", List.of("python3", "-c", script, "@/finish"));
    }

    @Tag("slow")
    @Test
    void python() throws Exception {
        assumeTrue(new ProcessBuilder("python3", "-c", "import numpy").start().waitFor() == 0, "no python3 with numpy");
        ProcessTreeJob.comesBack("python", List.of("python3", source("matrices.py"), "@/finish"));
    }

    @Tag("slow")
    @Test
    void javaVirtualMachine() throws Exception {
        ProcessTreeJob.comesBack("java",
                List.of(System.getProperty("java.home") + "/bin/java", "-Xmx64m", source("Pools.java"), "@/finish"));
    }

    @Tag("slow")
    @Test
    void staticProgram() throws Exception {
        Path program = Files.createTempFile("udckpt-alone", "");
        try {
            assertEquals(0,
                    new ProcessBuilder("gcc", "-static", "-O2", "-pthread", "-o", program.toString(), source("alone.c"))
                            .inheritIO().start().waitFor());
            ProcessTreeJob.comesBack("static", List.of(program.toString(), "@/finish"));
        } finally {
            Files.delete(program);
        }
    }

    /** Named and refused, or named and closed in the image only. */
    @Tag("slow")
    @Test
    void connectionsToOthers() throws Exception {
        Path name = Files.createTempDirectory("udckpt-o").resolve("socket");
        try (ServerSocket tcp = new ServerSocket(0, 2, InetAddress.ofLiteral("127.0.0.1"));
                ServerSocketChannel unix = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            unix.bind(UnixDomainSocketAddress.of(name));
            List<String> command =
                    List.of("python3", source("outside.py"), Integer.toString(tcp.getLocalPort()), name.toString());
            try (ProcessTreeJob tree = new ProcessTreeJob(command)) {
                tree.start();
                try (Socket first = tcp.accept(); SocketChannel second = unix.accept()) {
                    tree.await("started");
                    assertEquals(69, tree.checkpoint(), tree::text);
                    assertTrue(
                            tree.text()
                                    .contains("-> 127.0.0.1:" + tcp.getLocalPort()
                                            + ": the other end of this TCP socket is outside of the job")
                                    // all of them at once
                                    && tree.text().contains("the other end of this unix socket is outside of the job")
                                    && tree.text()
                                            .contains("or let the image close them (--external-connections close)"),
                            tree::text);
                    answered(first, second);
                }
                tree.end();
                tree.good();
            }
            try (ProcessTreeJob tree = new ProcessTreeJob(command)) {
                tree.start("--external-connections", "close");
                try (Socket first = tcp.accept(); SocketChannel second = unix.accept()) {
                    tree.await("started");
                    assertEquals(0, tree.checkpoint(), tree::text);
                    answered(first, second); // here they go on
                    first.getOutputStream().write("unread".getBytes(StandardCharsets.US_ASCII));
                    tree.checkpointAndKill();
                    assertTrue(tree.text().contains("outside of the job: closed in the image"), tree::text);
                }
                tree.restart();
                tree.end();
                assertTrue(tree.output().contains("ended AF_INET ping")
                        && tree.output().contains("ended AF_UNIX ping broken pipe")
                        && tree.output().contains("result done"), tree::text);
                tree.good();
            }
        } finally {
            new ProcessBuilder("rm", "-rf", name.getParent().toString()).start().waitFor();
        }
    }

    private static void answered(Socket tcp, SocketChannel unix) throws IOException {
        tcp.getOutputStream().write("ping".getBytes(StandardCharsets.US_ASCII));
        assertEquals("PING", new String(tcp.getInputStream().readNBytes(4), StandardCharsets.US_ASCII));
        unix.write(ByteBuffer.wrap("ping".getBytes(StandardCharsets.US_ASCII)));
        ByteBuffer answer = ByteBuffer.allocate(4);
        while (answer.hasRemaining()) {
            assertTrue(unix.read(answer) >= 0);
        }
        assertEquals("PING", new String(answer.array(), StandardCharsets.US_ASCII));
    }

    private static String source(String name) {
        return Path.of(System.getProperty("udckpt.root"), "system-test/src/test/trees", name).toString();
    }

    /**
     * A program that prints a line each round, in which all that was sent so far shows; slow while the brake is there.
     */
    private static void rounds(String name, Stream<String> launcher, Path program) throws Exception {
        String ranks = program.getFileName().toString();
        ProcessTreeJob tree =
                new ProcessTreeJob(Stream.concat(launcher, Stream.of(program.toString(), "150", "@/brake")).toList());
        try (tree) {
            String wanted = lines(tree.undisturbed());
            Files.createFile(tree.file("brake"));
            tree.start();
            tree.await("round 10 ");
            assertRanks(tree, ranks, false);
            tree.checkpointAndKill();
            String first = lines(tree.output());
            tree.restart();
            tree.await("round ");
            assertRanks(tree, ranks, true);
            tree.checkpointAndKill();
            tree.restart();
            Files.delete(tree.file("brake"));
            tree.finish();
            assertTrue(first.contains("round 10 ") && wanted.startsWith(first) && wanted.endsWith(lines(tree.output())),
                    () -> name + ": not these lines:\n" + wanted + "\n" + first + "\n" + tree.text());
            tree.good();
        }
    }

    /**
     * Without what UCX may say at the end of a coarray program, disturbed or not (a message that OpenCoarrays did not
     * wait for).
     */
    private static String lines(String output) {
        return output.lines().filter(line -> !line.contains(" UCX  WARN ")).collect(Collectors.joining("\n", "", "\n"));
    }

    /** Each byte of output is the same, and the ranks talk over other addresses than they think. */
    private static void launcher(String name, List<String> command, boolean session) throws Exception {
        launcher(name, command, command, session);
    }

    /** @param alone the same work without udckpt, whose devices there are not then */
    private static void launcher(String name, List<String> alone, List<String> command, boolean session)
            throws Exception {
        String wanted;
        try (ProcessTreeJob work = new ProcessTreeJob(alone, WORK)) {
            wanted = work.undisturbed();
            work.good();
        }
        ProcessTreeJob tree = new ProcessTreeJob(command, WORK, "--brake", "@/brake");
        try (tree) {
            Files.createFile(tree.file("brake"));
            tree.start();
            tree.await("solve 2 ");
            assertRanks(tree, "stencil_cg", false);
            tree.checkpointAndKill();
            String first = tree.output();
            if (session) {
                assertTrue(Files.isDirectory(tree.file("session")));
                new ProcessBuilder("rm", "-rf", tree.file("session").toString()).start().waitFor();
            }
            assertInspected(tree);
            tree.restart();
            tree.await("iteration"); // whichever solve the checkpoint met
            assertRanks(tree, "stencil_cg", true);
            // the next incarnation's image, of a job with verbs objects that are not at their old addresses
            tree.checkpointAndKill();
            tree.restart();
            Files.delete(tree.file("brake"));
            tree.finish();
            assertTrue(wanted.startsWith(first) && wanted.endsWith(tree.output()),
                    () -> name + ": not these lines:\n" + wanted + "\n" + first + "\n" + tree.text());
            tree.good();
        }
    }

    /** Each rank has a number, endpoints and counters of its own, the launcher has none. */
    private static void assertRanks(ProcessTreeJob tree, String program, boolean restarted) throws Exception {
        JsonNode status = tree.status();
        Map<Integer, Integer> pids = new TreeMap<>();
        for (JsonNode rank : status.path("ranks")) {
            assertEquals(rank.path("rank"), rank.path("mpi_rank"), status::toString);
            pids.put(rank.path("rank").asInt(), rank.path("pid").asInt());
            assertTrue(rank.at("/counters/ud_sends").asLong() + rank.at("/counters/rc_sends").asLong() > 0,
                    status::toString);
            assertTrue(!rank.path("endpoints").isEmpty(), status::toString);
            for (JsonNode endpoint : rank.path("endpoints")) {
                JsonNode virtual = endpoint.path("virtual");
                JsonNode real = endpoint.path("real");
                if (restarted) {
                    assertNotEquals(virtual.path("lid"), real.path("lid"), tree::text);
                    assertNotEquals(virtual.path("qpn"), real.path("qpn"), tree::text);
                } else {
                    assertEquals(virtual, real, tree::text);
                }
            }
        }
        assertEquals(Set.of(0, 1), pids.keySet(), status::toString);
        for (JsonNode process : status.path("processes")) {
            String name = process.path("name").asText();
            assertEquals(name.equals(program), process.has("rank"), status::toString);
            if (process.has("rank")) {
                assertEquals(pids.get(process.path("rank").asInt()), process.path("pid").asInt(), status::toString);
            }
        }
    }

    /** What the newest image says of ranks and launcher; each process can be named, and made a core of. */
    private static void assertInspected(ProcessTreeJob tree) throws Exception {
        JsonNode image = tree.json("inspect", tree.file("images").toString(), "--json");
        assertEquals(2, image.path("ranks").asInt());
        assertEquals(2, image.path("rank_details").size());
        for (JsonNode process : image.path("processes")) {
            assertEquals(process.path("name").asText().equals("stencil_cg"), process.has("rank"),
                    () -> image.path("processes").toString());
        }
        int launcher = image.at("/processes/0/pid").asInt();
        String rank = tree.output("export-core", tree.file("images").toString(), "--rank", "1", "--output",
                tree.file("rank.core").toString());
        assertTrue(rank.contains(": rank 1, process ") && rank.contains("(stencil_cg)"), rank);
        String first = tree.output("export-core", tree.file("images").toString(), "--pid", Integer.toString(launcher),
                "--output", tree.file("launcher.core").toString());
        String started = "process " + launcher + " \\((mpi|prterun).*"; // what Open MPI 5 calls it
        assertTrue(first.lines().anyMatch(line -> line.matches(".*: " + started)), first);
        String shown = tree.output("inspect", tree.file("images").toString(), "--pid", Integer.toString(launcher));
        assertTrue(shown.lines().findFirst().orElse("").matches(started), shown);
    }
}
