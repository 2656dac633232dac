package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.udckpt.hosts.Host;
import org.udckpt.hosts.HostLab;

/**
 * A Slurm of the test's own on this machine: munged, slurmctld and some slurmd as its children, with configuration,
 * ports, sockets and state of their own below one directory. Partition low gives way to partition high. Nothing of an
 * installed Slurm's services is touched.
 *
 * <p>All nodes have this machine's one address; or each is a host of a {@link HostLab}, and slurmctld and its users are
 * on the first, which is no node.
 */
final class SlurmCluster implements AutoCloseable {
    static final int GRACE_SECONDS = 20;
    private static final int AWAIT_SECONDS = 240;
    private static final int KEY_BYTES = 128;

    /** Where a daemon is. @param host null: beside the test */
    private record Place(String name, Host host) {
        String address() {
            return host == null ? "127.0.0.1" : host.address();
        }

        /** By nsenter(1): slurmd looks for its cgroups below /sys, in whose place ip(8) puts one of the namespace's. */
        ProcessBuilder command(List<String> words) {
            List<String> all = new ArrayList<>(
                    host == null ? List.of() : List.of("nsenter", "--net=/run/netns/" + host.namespace()));
            all.addAll(words);
            return new ProcessBuilder(all);
        }
    }

    final Path directory;
    private final Place controller;
    private final List<Place> nodes;
    private final List<Process> daemons = new ArrayList<>();

    private SlurmCluster(Path directory, Place controller, List<Place> nodes) {
        this.directory = directory;
        this.controller = controller;
        this.nodes = nodes;
    }

    /** Nodes n1 and n2. @param directory of the test */
    static SlurmCluster start(Path directory) throws Exception {
        return start(new SlurmCluster(directory, new Place("controller", null),
                List.of(new Place("n1", null), new Place("n2", null))));
    }

    /** Node n1 is host 2, and so on. */
    static SlurmCluster start(Path directory, HostLab lab) throws Exception {
        List<Place> nodes = lab.hosts().stream().skip(1).map(host -> new Place(node(host), host)).toList();
        return start(new SlurmCluster(directory, new Place("controller", lab.host(1)), nodes));
    }

    /** The name of the node on a host. */
    static String node(Host host) {
        return "n" + (host.number() - 1);
    }

    private static SlurmCluster start(SlurmCluster cluster) throws Exception {
        try {
            cluster.startDaemons();
            return cluster;
        } catch (Exception | AssertionError e) {
            cluster.close();
            throw e;
        }
    }

    private void startDaemons() throws Exception {
        for (String each : new String[]{"munge", "state", "spool"}) {
            Files.createDirectory(directory.resolve(each));
        }
        configure();
        startMunge();
        daemon("slurmctld", controller, "/usr/sbin/slurmctld", "-D", "-f", configuration().toString());
        await("slurmctld", () -> slurm("scontrol", "ping").contains("is UP"));
        for (Place node : nodes) {
            startNode(node);
        }
        awaitNodes();
    }

    private void startNode(Place node) throws IOException {
        daemon("slurmd-" + node.name(), node, "/usr/sbin/slurmd", "-D", "-N", node.name(), "-f",
                configuration().toString());
    }

    /** A node whose host has crashed is there again. */
    void startAgain(String name) throws IOException {
        startNode(nodes.stream().filter(node -> node.name().equals(name)).findFirst().orElseThrow());
        slurm("scontrol", "update", "nodename=" + name, "state=resume");
    }

    /** All of them are there, and idle. */
    void awaitNodes() throws Exception {
        await("all nodes", () -> slurm("sinfo", "-h", "-p", "low", "-o", "%D %t").equals(nodes.size() + " idle"));
    }

    private void startMunge() throws Exception {
        Path munge = directory.resolve("munge");
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        Files.write(munge.resolve("key"), key);
        assertEquals(0, new ProcessBuilder("chmod", "600", munge.resolve("key").toString()).start().waitFor());
        // its clients are asked for
        assertEquals(0, new ProcessBuilder("chmod", "711", directory.toString(), munge.toString()).start().waitFor());
        daemon("munged", controller, "/usr/sbin/munged", "--foreground", "--socket=" + munge.resolve("socket"),
                "--key-file=" + munge.resolve("key"),
                "--pid-file=" + munge.resolve("pid"), "--log-file=" + munge.resolve("log"),
                "--seed-file=" + munge.resolve("seed"));
        await("munged", () -> Files.exists(munge.resolve("socket")));
    }

    private void configure() throws IOException {
        String host = InetAddress.getLocalHost().getHostName();
        List<Integer> ports = freePorts(nodes.size() + 1);
        StringBuilder hosts = new StringBuilder();
        for (int i = 0; i < nodes.size(); i++) {
            hosts.append("NodeName=%s NodeHostname=%s NodeAddr=%s Port=%d CPUs=2%n".formatted(nodes.get(i).name(), host,
                    nodes.get(i).address(), ports.get(i + 1)));
        }
        String names = nodes.stream().map(Place::name).collect(Collectors.joining(","));
        Files.writeString(configuration(), """
                ClusterName=udckpt
                SlurmctldHost=%1$s(%3$s)
                SlurmctldPort=%4$d
                SlurmUser=%5$s
                SlurmdUser=%5$s
                AuthType=auth/munge
                CredType=cred/munge
                AuthInfo=socket=%2$s/munge/socket,cred_expire=10
                StateSaveLocation=%2$s/state
                SlurmdSpoolDir=%2$s/spool/%%n
                SlurmctldPidFile=%2$s/slurmctld.pid
                SlurmdPidFile=%2$s/slurmd-%%n.pid
                SlurmctldLogFile=%2$s/slurmctld.log
                SlurmdLogFile=%2$s/slurmd-%%n.log
                ProctrackType=proctrack/linuxproc
                TaskPlugin=task/none
                SelectType=select/cons_tres
                SelectTypeParameters=CR_CPU
                MpiDefault=none
                SwitchType=switch/none
                ReturnToService=1
                KillWait=10
                JobRequeue=1
                RequeueExit=75
                PreemptType=preempt/partition_prio
                PreemptMode=REQUEUE
                SlurmctldParameters=preempt_send_user_signal
                SchedulerParameters=batch_sched_delay=1,sched_interval=2,bf_interval=2
                PartitionName=low Nodes=%7$s Default=YES State=UP PriorityTier=1 GraceTime=%6$d
                PartitionName=high Nodes=%7$s State=UP PriorityTier=10 PreemptMode=OFF
                """.formatted(host, directory, controller.address(), ports.getFirst(), System.getProperty("user.name"),
                GRACE_SECONDS, names) + hosts);
    }

    private static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                sockets.add(new ServerSocket(0));
            }
            return sockets.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            for (ServerSocket socket : sockets) {
                socket.close();
            }
        }
    }

    private Path configuration() {
        return directory.resolve("slurm.conf");
    }

    private void daemon(String name, Place place, String... command) throws IOException {
        ProcessBuilder builder =
                place.command(List.of(command)).redirectInput(Path.of("/dev/null").toFile()).redirectErrorStream(true)
                        .redirectOutput(directory.resolve(name + ".out").toFile());
        builder.environment().put("SLURM_CONF", configuration().toString());
        daemons.add(builder.start());
    }

    /** What a command of Slurm printed, on both streams. */
    String slurm(String... command) throws IOException {
        return slurm(new ProcessBuilder(command).directory(directory.toFile()));
    }

    /** With a working directory and an environment of its own. */
    String slurm(ProcessBuilder command) throws IOException {
        command.environment().put("SLURM_CONF", configuration().toString());
        ProcessBuilder there =
                controller.command(command.command()).directory(command.directory()).redirectErrorStream(true);
        there.environment().putAll(command.environment());
        Process process = there.start();
        process.getOutputStream().close();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    }

    /** What its jobs need besides what Slurm gives them. */
    Map<String, String> environment() {
        return controller.host() == null ? Map.of() : Map.of("UDCKPT_SOFT_NET", HostLab.NET);
    }

    /** What {@code scontrol show job} says of one field. */
    String job(String id, String field) throws IOException {
        for (String word : slurm("scontrol", "show", "job", id).split("\\s+")) {
            if (word.startsWith(field + "=")) {
                return word.substring(field.length() + 1);
            }
        }
        throw new AssertionError("job " + id + " has no " + field);
    }

    interface Condition {
        boolean holds() throws IOException;
    }

    void await(String what, Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(AWAIT_SECONDS);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < end,
                    () -> what + " did not come in " + AWAIT_SECONDS + " s; see " + directory);
            Thread.sleep(200);
        }
    }

    /** Its jobs first, whose processes nobody else would end. */
    @Override
    public void close() throws Exception {
        try {
            if (daemons.size() > 1) {
                slurm("scancel", "--user=" + System.getProperty("user.name"));
                await("the end of all jobs", () -> slurm("squeue", "-h").isEmpty() || !daemons.get(1).isAlive());
            }
        } finally {
            for (Process daemon : daemons.reversed()) {
                daemon.destroy();
                if (!daemon.waitFor(20, TimeUnit.SECONDS)) {
                    daemon.destroyForcibly().waitFor();
                }
            }
        }
    }
}
