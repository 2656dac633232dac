package org.udckpt.process.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.SocketMessage;

/** The shepherd's protocol, and that ranks outlive their agent. The ranks are small shell scripts. */
@Timeout(180)
class ShepherdTest {
    /** A barrier, then the end, as a PMI-1 client does it; RANK exits with its first argument. */
    private static final String PMI_RANK =
            "echo cmd=barrier_in >&$PMI_FD; read answer <&$PMI_FD; [ \"$answer\" = cmd=barrier_out ] || exit 90;"
                    + "echo cmd=get_universe_size >&$PMI_FD; read answer <&$PMI_FD; [ \"$answer\" = "
                    + "'cmd=universe_size size=-1' ] || exit 91;"
                    + "echo cmd=finalize >&$PMI_FD; read answer <&$PMI_FD; [ \"$answer\" = cmd=finalize_ack ] || exit "
                    + "92; exit $0";

    private Path directory;
    private ServerSocketChannel pmi;
    private final List<SocketChannel> ranks = new ArrayList<>();

    @BeforeEach
    void listen() throws IOException {
        directory = Files.createTempDirectory("udckpt-s",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        pmi = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                .bind(UnixDomainSocketAddress.of(directory.resolve("pmi")));
    }

    @AfterEach
    void clean() throws IOException {
        for (SocketChannel rank : ranks) {
            rank.close();
        }
        pmi.close();
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }

    private String pmiPath() {
        return directory.resolve("pmi").toString();
    }

    /** Accepts the next PMI connection, and checks whose it is. */
    private BufferedReader accept(int rank) throws IOException {
        SocketChannel channel = pmi.accept();
        ranks.add(channel);
        BufferedReader reader = new BufferedReader(new InputStreamReader(Channels.newInputStream(channel)));
        assertEquals("rank=" + rank, reader.readLine());
        return reader;
    }

    @Test
    void startsRanksAndReportsTheirEnd() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of())) {
            int pid = shepherd.spawn(0, "", List.of("sh", "-c", "exit 7"));
            assertEquals("exited " + pid + " " + (7 << 8), shepherd.exit());
            int sleeper = shepherd.spawn(1, "", List.of("sh", "-c", "sleep 60 & wait"));
            shepherd.tell("signal 15 " + sleeper);
            assertEquals("exited " + sleeper + " 15", shepherd.exit());
            shepherd.tell("spawn 2 " + shepherd.specification("", List.of("no-such-program"), "/"));
            assertEquals("error rank 2: cannot execute no-such-program: No such file or directory", shepherd.answer());
            shepherd.tell("spawn 3 " + shepherd.specification("", List.of("sh"), "/no/such/directory"));
            assertEquals("error rank 3: cannot enter directory /no/such/directory: No such file or directory",
                    shepherd.answer());
            shepherd.tell("dance");
            assertEquals("error unknown command: dance", shepherd.answer());
            assertEquals(7, shepherd.abandon(), "the first rank that fails gives the code");
        }
    }

    @Test
    void relaysPmiBothWays() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of())) {
            int pid = shepherd.spawn(5, pmiPath(),
                    List.of("sh", "-c", "echo cmd=init >&$PMI_FD; read answer <&$PMI_FD; [ \"$answer\" = hello ]"));
            BufferedReader rank = accept(5);
            assertEquals("cmd=init", rank.readLine());
            ranks.getFirst().write(ByteBuffer.wrap("hello\n".getBytes()));
            assertEquals("exited " + pid + " 0", shepherd.exit());
            assertEquals(null, rank.readLine(), "the agent sees the end of the rank's connection");
        }
    }

    /** The agent may have been stopped, say: the shepherd goes on serving the ranks, and reports later. */
    @Test
    void servesRanksWhileTheAgentReadsNothing() throws Exception {
        int many = 1000; // answers, more than a socket holds
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of())) {
            shepherd.spawn(5, pmiPath(),
                    List.of("sh", "-c", "read answer <&$PMI_FD; echo cmd=init >&$PMI_FD; [ \"$answer\" = hello ]"));
            BufferedReader rank = accept(5);
            shepherd.tell("dance\n".repeat(many).strip());
            ranks.getFirst().write(ByteBuffer.wrap("hello\n".getBytes()));
            assertEquals("cmd=init", rank.readLine());
            for (int i = 0; i < many; i++) {
                assertEquals("error unknown command: dance", shepherd.answer());
            }
            assertTrue(shepherd.exit().endsWith(" 0"));
        }
    }

    @Test
    void ranksInABarrierOutliveTheirAgent() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of())) {
            shepherd.spawn(0, pmiPath(), List.of("sh", "-c", PMI_RANK, "0"));
            BufferedReader first = accept(0);
            shepherd.spawn(1, pmiPath(), List.of("sh", "-c", "sleep 0.3;" + PMI_RANK, "4"));
            accept(1);
            assertEquals("cmd=barrier_in", first.readLine(), "the agent has taken this request, and dies with it");
            for (SocketChannel rank : ranks) {
                rank.close();
            }
            assertEquals(4, shepherd.abandon(), shepherd.output());
            assertTrue(shepherd.output().contains("udckpt: the agent of this job is gone; the ranks continue without "
                    + "checkpoints"), shepherd.output());
        }
    }

    /** Nobody can bring its MPI_Init to an end, and its peers would wait for it. */
    @Test
    void aRankThatStillPutsAndGetsEndsWithItsPeersWhenTheAgentIsGone() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of())) {
            shepherd.spawn(0, pmiPath(),
                    List.of("sh", "-c", "sleep 1; echo cmd=put kvsname=x key=y value=z >&$PMI_FD; sleep 60"));
            accept(0);
            shepherd.spawn(1, pmiPath(),
                    List.of("sh", "-c", "echo cmd=barrier_in >&$PMI_FD; read answer <&$PMI_FD; sleep 60"));
            accept(1);
            for (SocketChannel rank : ranks) {
                rank.close();
            }
            assertEquals(1, shepherd.abandon(), shepherd.output());
            assertTrue(
                    shepherd.output().contains(
                            "the agent of this job is gone while rank 0 is in MPI_Init, which needs it: the job ends"),
                    shepherd.output());
        }
    }

    /** More answers than the relay has room for: it waits for the rank to read, and none is lost. */
    @Test
    void aRankThatAsksAheadGetsEveryAnswer() throws Exception {
        int requests = 3000;
        Path ahead = Files.writeString(directory.resolve("requests"), "cmd=get_universe_size\n".repeat(requests));
        Path alone = directory.resolve("alone");
        String script = "while [ ! -e " + alone + " ]; do sleep 0.02; done; cat " + ahead + " >&$PMI_FD; [ $(head -n "
                + requests
                + " <&$PMI_FD | grep -c '^cmd=universe_size size=-1$') = " + requests + " ]";
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of())) {
            shepherd.spawn(0, pmiPath(), List.of("sh", "-c", script));
            accept(0);
            ranks.getFirst().close();
            Files.createFile(alone);
            assertEquals(0, shepherd.abandon(), shepherd.output());
        }
    }

    /** Somebody would compute on with zeros, once nobody holds the descriptors. */
    @Test
    void aJobWhoseMemoryIsMissingDiesWithTheAgent() throws Exception {
        Path late = directory.resolve("late");
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of(), "--restore", "0")) {
            shepherd.spawn(0, "", List.of("sh", "-c", "sleep 0.5; setsid sh -c 'sleep 1; touch " + late + "' & wait"));
            int socket = agentEnd(shepherd);
            int pipe = org.udckpt.linux.Files.open("/dev/null", 0);
            hold(socket, pipe);
            org.udckpt.linux.Files.close(pipe);
            Thread.sleep(700);
            org.udckpt.linux.Files.close(socket);
            assertEquals(1, shepherd.abandon(), shepherd.output());
            assertTrue(shepherd.output().contains("while memory was still being read from the checkpoint: the job "
                    + "ends; restart it"), shepherd.output());
            Thread.sleep(600);
            assertFalse(Files.exists(late), "a process in another session went on");
        }
    }

    @Test
    void aJobWhoseMemoryIsInOutlivesItsAgent() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of(), "--restore", "0")) {
            shepherd.spawn(0, "", List.of("sh", "-c", "sleep 0.5; exit 3"));
            int socket = agentEnd(shepherd);
            hold(socket, 0);
            SocketMessage.send(socket, request(3 /* RELEASE */), List.of(), "release");
            org.udckpt.linux.Files.close(socket);
            assertEquals(3, shepherd.abandon(), shepherd.output());
            assertTrue(shepherd.output().contains("the ranks continue"), shepherd.output());
        }
    }

    private static int agentEnd(TestShepherd shepherd) throws IOException {
        int descriptor = shepherd.lazy();
        try (ProcessHandleFd pidOne = new ProcessHandleFd(shepherd.pidOne())) {
            return pidOne.duplicate(descriptor);
        } finally {
            shepherd.taken(descriptor);
        }
    }

    private static void hold(int socket, int descriptor) {
        SocketMessage.send(socket, request(1 /* HOLD */), List.of(descriptor), "hold");
        assertEquals(0, ByteBuffer.wrap(SocketMessage.receive(socket, "its key").bytes()).get());
    }

    private static byte[] request(int operation) {
        return new byte[]{(byte) operation, 0, 0, 0, 0, 0, 0, 0};
    }

    @Test
    void announcedSnapshotsDieWithTheAgentAndDaemonsDoNot() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of())) {
            Path pids = directory.resolve("pids");
            shepherd.spawn(0, "", List.of("sh", "-c",
                    "(sleep 61 & echo $! > " + pids + "; sleep 62 & echo $! >> " + pids + "); sleep 1"));
            while (!Files.exists(pids) || Files.readAllLines(pids).size() < 2) {
                Thread.sleep(10);
            }
            List<Long> orphans = Files.readAllLines(pids).stream().map(Long::parseLong).toList();
            shepherd.tell("expect " + orphans.getFirst());
            assertEquals(0, shepherd.abandon(), shepherd.output());
            assertFalse(ProcessHandle.of(orphans.getFirst()).map(ProcessHandle::isAlive).orElse(false),
                    "the snapshot is gone");
            ProcessHandle daemon =
                    ProcessHandle.of(orphans.getLast()).orElseThrow(() -> new AssertionError("the daemon was killed"));
            assertTrue(daemon.destroyForcibly());
        }
    }

    @Test
    void stubsHaveTheirPidAndDieWithTheAgent() throws Exception {
        stubs(List.of());
    }

    @Test
    void anOrdinaryUserGetsThemTooWhereTheKernelAllowsIt() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"),
                "runs as an ordinary user already: see the other test");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.setPosixFilePermissions(directory.resolve("pmi"), PosixFilePermissions.fromString("rwxrwxrwx"));
        Path copy = Files.copy(TestShepherd.BINARY, directory.resolve("shepherd"));
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
        // That user may not be able to read the binary itself: the shell drops its path and starts the copy.
        stubs(List.of("sh", "-c", "shift; exec setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all "
                + copy + " \"$@\"", "shepherd"));
    }

    /** A new IPC namespace begins with the kernel's defaults (ipc_namespaces(7)). */
    @Test
    void limitsOfSystemVAndPosixObjectsAreTheMachines() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can set them");
        String limits =
                "echo 70000 >/proc/sys/kernel/msgmnb && echo '300 4000 40 100' >/proc/sys/kernel/sem && echo 77 "
                        + ">/proc/sys/fs/mqueue/msg_max && exec \"$@\"";
        try (TestShepherd shepherd = TestShepherd.start(directory,
                List.of("unshare", "--ipc", "sh", "-c", limits, "sh"), "--restore", "0")) {
            shepherd.clock(0);
            int pid = shepherd.spawn(0, "", List.of("sh", "-c",
                    "cat /proc/sys/kernel/msgmnb /proc/sys/kernel/sem /proc/sys/fs/mqueue/msg_max"));
            assertEquals("exited " + pid + " 0", shepherd.exit());
            assertTrue(shepherd.output().contains("70000\n300\t4000\t40\t100\n77\n"), shepherd.output());
        }
    }

    /** A container's /proc/sys is read-only: the job has the kernel's default, and its user is told. */
    @Test
    void aLimitThatCannotBeSetIsTold() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can set them");
        String limits =
                "echo 70000 >/proc/sys/kernel/msgmnb && mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind "
                        + "/proc/sys && exec \"$@\"";
        List<String> namespaces =
                List.of("unshare", "--ipc", "--mount", "--propagation", "private", "sh", "-c", limits, "sh");
        try (TestShepherd shepherd = TestShepherd.start(directory, namespaces, "--restore", "0")) {
            shepherd.clock(0);
            String told = shepherd.output();
            assertTrue(told.contains(
                    "udckpt: warning: kernel/msgmnb cannot be set in the IPC namespace of the restored job (Read-only "
                            + "file system): it has the kernel's "),
                    told);
            assertTrue(told.contains(" there, not this machine's 70000\n"), told);
        }
    }

    /** As lxcfs and container runtimes do it: files of their own, and read-only parts, over those of /proc. */
    @Test
    void whatIsMountedOverPartsOfProcStaysThere() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can mount");
        Path version = Files.writeString(directory.resolve("a version"), "the container's\n");
        String mounts = "mount --bind '" + version
                + "' /proc/version && mount --bind /proc/sys /proc/sys && mount --bind /proc/sys/net /proc/sys/net"
                + " && mount -o remount,ro,bind /proc/sys && exec \"$@\"";
        try (TestShepherd shepherd = TestShepherd.start(directory,
                List.of("unshare", "--mount", "--propagation", "private", "sh", "-c", mounts, "sh"), "--restore",
                "0")) {
            shepherd.clock(0);
            int host = shepherd.ask("stub 4321");
            Path root = Path.of("/proc/" + host + "/root/proc");
            assertEquals("the container's\n", Files.readString(root.resolve("version")));
            assertTrue(Files.exists(root.resolve("4321/status")), "the /proc of the job's processes");
            assertFalse(Files.isWritable(root.resolve("sys/kernel/hostname")), "a part that is read-only");
            assertTrue(Files.isWritable(root.resolve("sys/net/ipv4/ip_forward")), "and one in it that is not");
            assertEquals(128 + 9, shepherd.abandon());
        }
    }

    /**
     * It is the parent of first processes and of orphans under the number that theirs had, and still ends with the
     * process that the agent has started, and that with it.
     */
    @Test
    void goesOnUnderTheNumberOfTheJobsParent() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of(), "--restore", "0")) {
            assertEquals(5432, shepherd.ask("parent 5432"));
            Path parents = directory.resolve("parents");
            int first = shepherd.spawn(0, "", List.of("sh", "-c",
                    "(sh -c 'sleep 0.2; cut -d\" \" -f4 /proc/self/stat > " + parents + "'; true) & echo $PPID; wait"));
            assertEquals("exited " + first + " 0", shepherd.exit());
            assertTrue(shepherd.output().lines().anyMatch("5432"::equals), shepherd.output());
            int orphans = shepherd.spawn(0, "",
                    List.of("sh", "-c", "(sleep 0.3; sh -c 'exec cut -d\" \" -f4 /proc/'$(sh -c 'echo $PPID')'/stat' > "
                            + parents + ") & exit 3"));
            assertEquals("exited " + orphans + " " + (3 << 8), shepherd.exit());
            for (int round = 0; round < 500 && (!Files.exists(parents) || Files.size(parents) == 0
                    || !Files.readString(parents).strip().equals("5432")); round++) {
                Thread.sleep(10);
            }
            assertEquals("5432", Files.readString(parents).strip(), "an orphan's parent");
            shepherd.tell("parent 5433");
            assertEquals("error parent 5433: it has to be the first command of a shepherd started with --restore",
                    shepherd.answer());
            assertEquals(3, shepherd.abandon(), "the exit code of the job comes through");
        }
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of(), "--restore", "0")) {
            assertEquals(1, shepherd.ask("parent " + Integer.MAX_VALUE), "there is no such number");
            shepherd.ask("stub 4321");
            shepherd.tell("parent 5432");
            assertEquals("error parent 5432: it has to be the first command of a shepherd started with --restore",
                    shepherd.answer());
        }
    }

    private void stubs(List<String> prefix) throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, prefix, "--restore", "0")) {
            shepherd.clock(5_000_000_000L);
            int host = shepherd.ask("stub 4321");
            assertTrue(Files.readString(Path.of("/proc/" + host + "/status")).contains("\t4321\n"),
                    "NSpid of the stub");
            assertEquals(Files.readSymbolicLink(Path.of("/proc/" + shepherd.pidOne() + "/ns/time")),
                    Files.readSymbolicLink(Path.of("/proc/" + host + "/ns/time")),
                    "the capture compares them");
            shepherd.tell("stub 4321");
            assertEquals("error stub 4321: cannot create a process with this pid: File exists", shepherd.answer());
            shepherd.tell("adopt 4322 " + host);
            assertEquals("error adopt 4322: No child processes", shepherd.answer());
            shepherd.tell("adopt 4322");
            assertEquals("error unknown command: adopt 4322", shepherd.answer());
            int clock = shepherd.spawn(0, "",
                    List.of("sh", "-c", "read up rest < /proc/uptime; echo uptime=$up; [ $$ -lt 100 ]"));
            assertEquals("exited " + clock + " 0", shepherd.exit());
            double here = Double.parseDouble(Files.readString(Path.of("/proc/uptime")).split(" ")[0]);
            double there = Double.parseDouble(shepherd.output().lines().filter(l -> l.startsWith("uptime=")).findFirst()
                    .orElseThrow().substring(7));
            assertTrue(Math.abs(there - here - 5) < 2, there + " is not 5 s after " + here);
            int fd = shepherd.ask("pmi 3 " + pmiPath());
            accept(3);
            shepherd.tell("taken " + fd);
            assertEquals(128 + 9, shepherd.abandon(), "a stub that never ran is killed");
        }
    }
}
