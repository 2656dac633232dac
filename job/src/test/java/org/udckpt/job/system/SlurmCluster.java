package org.udckpt.job.system;

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
import java.util.concurrent.TimeUnit;

/**
 * A Slurm of the test's own on this machine: munged, slurmctld and two slurmd as its children, with configuration, ports, sockets and state of
 * their own below one directory. Partition low gives way to partition high. Nothing of an installed Slurm's services is touched.
 */
final class SlurmCluster implements AutoCloseable {
    static final int GRACE_SECONDS = 20;
    private static final int AWAIT_SECONDS = 240;
    private static final int KEY_BYTES = 128;

    final Path directory;
    private final List<Process> daemons = new ArrayList<>();

    private SlurmCluster(Path directory) {
        this.directory = directory;
    }

    /** @param directory of the test */
    static SlurmCluster start(Path directory) throws Exception {
        SlurmCluster cluster = new SlurmCluster(directory);
        try {
            cluster.startDaemons();
            return cluster;
        } catch (Exception | AssertionError e) {
            cluster.close();
            throw e;
        }
    }

    private void startDaemons() throws Exception {
        for (String each : new String[] {"munge", "state", "spool"}) {
            Files.createDirectory(directory.resolve(each));
        }
        configure();
        startMunge();
        daemon("slurmctld", "/usr/sbin/slurmctld", "-D", "-f", configuration().toString());
        await("slurmctld", () -> slurm("scontrol", "ping").contains("is UP"));
        for (String node : new String[] {"n1", "n2"}) {
            daemon("slurmd-" + node, "/usr/sbin/slurmd", "-D", "-N", node, "-f", configuration().toString());
        }
        await("two idle nodes", () -> slurm("sinfo", "-h", "-p", "low", "-o", "%D %t").equals("2 idle"));
    }

    private void startMunge() throws Exception {
        Path munge = directory.resolve("munge");
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        Files.write(munge.resolve("key"), key);
        assertEquals(0, new ProcessBuilder("chmod", "600", munge.resolve("key").toString()).start().waitFor());
        assertEquals(0, new ProcessBuilder("chmod", "711", directory.toString(), munge.toString()).start().waitFor()); // its clients are asked for
        daemon("munged", "/usr/sbin/munged", "--foreground", "--socket=" + munge.resolve("socket"), "--key-file=" + munge.resolve("key"),
                "--pid-file=" + munge.resolve("pid"), "--log-file=" + munge.resolve("log"), "--seed-file=" + munge.resolve("seed"));
        await("munged", () -> Files.exists(munge.resolve("socket")));
    }

    private void configure() throws IOException {
        String host = InetAddress.getLocalHost().getHostName();
        int[] ports = freePorts();
        Files.writeString(configuration(), """
                ClusterName=udckpt
                SlurmctldHost=%1$s(127.0.0.1)
                SlurmctldPort=%3$d
                SlurmUser=%6$s
                SlurmdUser=%6$s
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
                NodeName=n1 NodeHostname=%1$s NodeAddr=127.0.0.1 Port=%4$d CPUs=2
                NodeName=n2 NodeHostname=%1$s NodeAddr=127.0.0.1 Port=%5$d CPUs=2
                PartitionName=low Nodes=n1,n2 Default=YES State=UP PriorityTier=1 GraceTime=%7$d
                PartitionName=high Nodes=n1,n2 State=UP PriorityTier=10 PreemptMode=OFF
                """.formatted(host, directory, ports[0], ports[1], ports[2], System.getProperty("user.name"), GRACE_SECONDS));
    }

    private static int[] freePorts() throws IOException {
        try (ServerSocket a = new ServerSocket(0); ServerSocket b = new ServerSocket(0); ServerSocket c = new ServerSocket(0)) {
            return new int[] {a.getLocalPort(), b.getLocalPort(), c.getLocalPort()};
        }
    }

    private Path configuration() {
        return directory.resolve("slurm.conf");
    }

    private void daemon(String name, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectInput(Path.of("/dev/null").toFile()).redirectErrorStream(true)
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
        Process process = command.redirectErrorStream(true).start();
        process.getOutputStream().close();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
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
            assertTrue(System.nanoTime() < end, () -> what + " did not come in " + AWAIT_SECONDS + " s; see " + directory);
            Thread.sleep(200);
        }
    }

    /** Its jobs first, whose processes nobody else would end. */
    @Override
    public void close() throws Exception {
        if (daemons.size() > 1) {
            slurm("scancel", "--user=" + System.getProperty("user.name"));
            await("the end of all jobs", () -> slurm("squeue", "-h").isEmpty() || !daemons.get(1).isAlive());
        }
        for (Process daemon : daemons.reversed()) {
            daemon.destroy();
            if (!daemon.waitFor(20, TimeUnit.SECONDS)) {
                daemon.destroyForcibly().waitFor();
            }
        }
    }
}
