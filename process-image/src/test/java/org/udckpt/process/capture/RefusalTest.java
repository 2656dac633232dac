package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** What cannot be captured is refused by name, with rank, process and descriptor, and the program goes on unharmed. */
@Timeout(180)
class RefusalTest {
    @ParameterizedTest
    @CsvSource("userfaultfd, userfaultfd cannot, true")
    void byName(String feature, String words, boolean descriptor) throws Exception {
        try (Target target = Target.feature(feature, Target.LIBRARY)) {
            for (int round = 0; round < 3; round++) {
                CaptureRefused refused =
                        assertThrows(CaptureRefused.class, () -> Capture.take(target.request()).close());
                assertTrue(refused.getMessage().contains(words), refused.getMessage());
                assertEquals(0, refused.rank());
                assertTrue(target.processes().contains(refused.pid()), refused.getMessage());
                assertEquals(descriptor, refused.descriptor() >= 0, refused.getMessage());
                Thread.sleep(10);
            }
            assertEquals("PASS", target.verdict().split(" ")[0]);
        }
    }

    /** What a restart would not make as it was: named while the program still runs. */
    @ParameterizedTest
    @CsvSource({"siblings-memory, which is not its parent (clone(2) with CLONE_VM)", "exit-signal, instead of SIGCHLD",
            "siblings, which is not its parent (clone(2) with CLONE_FILES)",
            "thread-descriptors, has one table of descriptors with", "thread-removed, was removed",
            "thread-lock, of a thread alone", "thread-inotify, open in no process",
            "thread-root, has its own root directory",
            "thread-mounts, is in another mnt namespace", "thread-pair, has one working directory with",
            "thread-filter, asks a supervisor",
            "other-name, another name", "mapped-other-name, another name",
            "main-ended-told, told of its parent's death (prctl",
            "main-ended-stopped, let it go on first (SIGCONT)",
            "main-ended-killed, its main thread was ended by signal 31", "groups, cannot be restored at its place",
            "ended-signal, instead of SIGCHLD",
            "path-handle, O_PATH",
            "signal-io, which is outside of the job", "segment, nobody attached",
            "cpu-timer, CPU time of a thread", "tcp-self, connected to itself",
            "landlock, in a Landlock domain", "session-keyring, a session keyring of its own (udckpt-test",
            "process-keyring, a process keyring", "thread-keyring, a thread keyring",
            "call-handler, PR_SET_SYSCALL_USER_DISPATCH",
            "aio, io_setup", "message-queue-thread, SIGEV_THREAD", "message-queue-unknown, whose value is not known",
            "ended-descriptors, belongs to a process that has ended",
            "ended-memory, belongs to a process that has ended", "ended-read, and was read before",
            "ended-environment, a restart could not open it again",
            "other-owner, a process outside the job", "process-outside, which is not part of the job",
            "udp-group, in a multicast group",
            "netlink-generic, netlink socket of family 16",
            "datagram-client, the other end of this unix socket is outside of the job",
            "datagram-server, a datagram socket outside of the job is connected to this unix socket",
            "urgent-owner, on urgent data (fcntl(2) F_SETOWN)"})
    void oddities(String kind, String words) throws Exception {
        refusedTwice(kind, words);
    }

    /** A listener alone is kept. */
    @Test
    void multipathTcp() throws Exception {
        Path enabled = Path.of("/proc/sys/net/mptcp/enabled");
        assumeTrue(Files.exists(enabled) && Files.readString(enabled).strip().equals("1"),
                "no Multipath TCP here (net.mptcp.enabled)");
        refusedTwice("multipath", "a connection of Multipath TCP");
    }

    /** Both addresses are named, so that the user can find who it is. */
    @Test
    void tcpToOutsideOfTheJob() throws Exception {
        try (ServerSocket outside = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            refusedTwice("tcp-to:" + outside.getLocalPort(), "-> 127.0.0.1:" + outside.getLocalPort()
                    + ": the other end of this TCP socket is outside of the job");
        }
    }

    @Test
    void firstProcessOfAPidNamespaceThatHasEnded() throws Exception {
        assumeTrue(Syscall.call(107 /* geteuid */) == 0, "not root");
        anotherTime("pids-zombie", "which has ended, was the first process of a pid namespace; try again");
    }

    @Test
    void messageQueueOfAnotherProcess() throws Exception {
        long pid = ProcessHandle.current().pid();
        String name = "udckpt-outside-" + pid;
        long queue = LinuxError.check(Syscall.call(Syscall.MQ_OPEN, Scratch.string(name),
                Syscall.O_CREAT | Syscall.O_EXCL | Syscall.O_RDWR, 0600, 0), "mq_open");
        try {
            refusedTwice("message-queue-/" + name,
                    "POSIX message queue /" + name + " is also open in process " + pid);
        } finally {
            org.udckpt.linux.Files.close((int) queue);
            Syscall.call(Syscall.MQ_UNLINK, Scratch.string(name));
        }
    }

    /** What may be over the next time, and can never be looked at without harm. */
    @ParameterizedTest
    @CsvSource({"tcp-urgent, a pending urgent byte", "tcp-early, before it was accepted",
            "message-queue-full, has room for one message"})
    void anotherTime(String kind, String words) throws Exception {
        try (Target target = Target.own("odd", kind)) {
            CaptureFailed failed = assertThrows(CaptureFailed.class, () -> Capture.take(target.request()).close());
            assertTrue(failed.getMessage().contains(words), failed.getMessage());
            assertEquals("PASS", target.verdict());
        }
    }

    /** What only root can do. */
    @ParameterizedTest
    @CsvSource({"thread-names, is in another uts namespace than the process",
            "left-segment, which is not of the IPC namespace that it is in now",
            "left-segment-replaced, which is not of the IPC namespace that it is in now",
            "pids-empty, in which no process is yet",
            "pids-ended, pid namespace",
            "pids-names, made outside of the user namespace", "others-root, can be replaced by user 61002",
            "peer-groups, was in 4097 groups (SO_PEERGROUPS); at most 4096",
            "raw-shut, a raw socket (IPv4) that was shut",
            "unix-early-urgent, not accepted yet has urgent data",
            "unix-early-descriptors, not accepted yet has descriptors in flight",
            "unix-early-name, 'closed by its client, which had a name'",
            "packet-ring, mapped memory of socket:", "packet-group, chosen by a program (PACKET_FANOUT_DATA)",
            "mounted-ramfs, 'a file system (ramfs, odd, /) that a restart cannot mount again'",
            "mounted-fifo, 'n/fifo, on a mount that only the namespace has, is open'",
            "mounted-socket, 'n/socket, on a mount that only a mount namespace of the job has'",
            "mounted-proc, has no /proc",
            "mounted-child, m/file was opened by way of a mount of another namespace",
            "mounted-readonly, m/file (deleted) is on a mount for reading only",
            "mounted-directory, m/gone (deleted) is open in a mount namespace",
            "mounted-siblings, none of one that is above these",
            "mounted-user, it runs as user 61001 in a user namespace that user 0 has made",
            "mounted-sharing, clone(2) with CLONE_FS",
            "network-device, 'could not make again: network device odd0'",
            "network-route, could not make again: route to 10.1.0.0/16",
            "network-rule, could not make again: routing rule",
            "network-address, 'for some time only, network address 10.1.0.1/16'",
            "network-thread, is in another net namespace than the process",
            "network-socket, belongs to a network namespace that no process of the job is in",
            "network-pair, and is now in another network namespace",
            "network-alone, no process of the job is left there"})
    void oddPrivileges(String kind, String words) throws Exception {
        assumeTrue(Syscall.call(107 /* geteuid */) == 0, "not root");
        refusedTwice(kind, words);
    }

    /** Some of it is seen when the program runs again, and its snapshot is asked. */
    private static void image(Target target) {
        try (Capture capture = Capture.take(target.request())) {
            capture.image();
        }
    }

    private static void refusedTwice(String kind, String words) throws Exception {
        try (Target target = Target.own("odd", kind)) {
            for (int round = 0; round < 2; round++) {
                CaptureRefused refused = assertThrows(CaptureRefused.class, () -> image(target));
                assertTrue(refused.getMessage().contains(words), refused.getMessage());
            }
            assertEquals("PASS", target.verdict());
        }
    }

    /**
     * Whatever else happens: processes of the job that end meanwhile, and no processor to be had, do not make it "try
     * again".
     */
    @Tag("slow")
    @Test
    void aRefusalStaysOneUnderLoad() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        List<Thread> burners = IntStream.range(0, 2 * Runtime.getRuntime().availableProcessors())
                .mapToObj(i -> Thread.ofPlatform().daemon().start(() -> {
                    while (!over.get()) {
                        Thread.onSpinWait();
                    }
                })).toList();
        try (Target first = Target.own("odd", "churn"); Target second = Target.own("odd", "churn")) {
            CaptureRequest both = new CaptureRequest(
                    List.of(new CaptureRequest.Root(0, first.pid), new CaptureRequest.Root(1, second.pid)),
                    CaptureRequest.StandardStreams.NONE);
            for (int round = 0; round < 30; round++) {
                CaptureRefused refused =
                        assertThrows(CaptureRefused.class, () -> Capture.take(both).close(), "round " + round);
                assertTrue(refused.getMessage().contains("userfaultfd cannot be checkpointed"), refused.getMessage());
            }
            assertEquals("PASS", first.verdict());
            assertEquals("PASS", second.verdict());
        } finally {
            over.set(true);
            for (Thread burner : burners) {
                burner.join();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"threads"})
    void oneRefusalSparesAllRanks(String feature) throws Exception {
        try (Target good = Target.feature(feature, Target.LIBRARY);
                Target bad = Target.feature("userfaultfd", Target.LIBRARY)) {
            CaptureRequest both = new CaptureRequest(
                    List.of(new CaptureRequest.Root(0, good.pid), new CaptureRequest.Root(1, bad.pid)),
                    CaptureRequest.StandardStreams.NONE);
            assertEquals(1, assertThrows(CaptureRefused.class, () -> Capture.take(both).close()).rank());
            assertEquals("PASS", good.verdict().split(" ")[0]);
            assertEquals("PASS", bad.verdict().split(" ")[0]);
        }
    }
}
