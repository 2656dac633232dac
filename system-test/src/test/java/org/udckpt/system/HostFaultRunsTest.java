package org.udckpt.system;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.hosts.Host;
import org.udckpt.hosts.HostLab;
import org.udckpt.hosts.Trouble;

/**
 * A real MPI job on four hosts, which takes checkpoints by itself and restarts itself, while at moments of chance a
 * host crashes, an agent or a rank is killed, an agent stands still, or the network is cut or bad: it ends with the
 * right answer. Where the lead is killed, all ranks end by themselves, and {@code udckpt restart} goes on from the last
 * checkpoint. {@code -Dudckpt.host.faults=N} runs ({@code ./udckpt test hosts}), {@code -Dudckpt.host.jobs=J} at once,
 * from {@code -Dudckpt.seed=S} and, in place of a run in which nothing happened to a host with ranks, with the seeds
 * behind those (a seed gives what is to happen and when; to which host depends on where ranks are then), of the faults
 * {@code -Dudckpt.host.kinds=A,B} (all); all are made, and those that failed are named with their seeds.
 */
@Tag("slow")
@Timeout(value = 6, unit = TimeUnit.HOURS) // of as many runs as are asked for; each has its own limit
class HostFaultRunsTest {
    /**
     * The lease is 4 s: a short cut may end before it, a long one does not; SLOW is a bad network of chance, in whose
     * middle a host may crash.
     */
    private static final int LOOKS = 1500; // 30 s

    private enum Fault {
        CRASH, KILL_AGENT, KILL_RANK, PAUSE_AGENT, SHORT_CUT, LONG_CUT, CUT_BETWEEN, SLOW, KILL_LEAD
    }

    private static final List<Fault> KINDS = kinds(System.getProperty("udckpt.host.kinds", ""));

    private static List<Fault> kinds(String names) {
        return names.isEmpty() ? List.of(Fault.values()) : Stream.of(names.split(",")).map(Fault::valueOf).toList();
    }

    /**
     * Any but the lead's; mostly one that has a rank now, for which it waits while the job is between two incarnations:
     * what happens to a spare happens to nobody.
     */
    private static int host(DisturbedJob job, Random random) throws Exception {
        SeveralHosts hosts = job.hosts;
        List<Integer> all = IntStream.rangeClosed(2, 1 + DisturbedJob.HOSTS + DisturbedJob.SPARES).boxed().toList();
        if (random.nextInt(8) == 0) {
            return all.get(random.nextInt(all.size()));
        }
        List<Integer> busy = busy(hosts, all);
        for (int looks = 0; busy.isEmpty() && job.lead.isAlive() && looks < LOOKS; looks++) {
            Thread.sleep(20);
            busy = busy(hosts, all);
        }
        return busy.isEmpty() ? all.getFirst() : busy.get(random.nextInt(busy.size()));
    }

    private static List<Integer> busy(SeveralHosts hosts, List<Integer> all) throws IOException {
        List<Integer> busy = new ArrayList<>();
        for (int each : all) {
            if (!hosts.programs(each).isEmpty()) {
                busy.add(each);
            }
        }
        return busy;
    }

    /** @param touched whether the lead or a host with ranks had its share */
    private record Happened(String what, boolean touched) {
        @Override
        public String toString() {
            return touched ? what : what + " (which had no ranks)";
        }
    }

    @Test
    void theAnswerIsRightWhateverHappens() throws Exception {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
        int runs = Integer.getInteger("udckpt.host.faults", 2);
        long seed = Long.getLong("udckpt.seed", 1);
        String answer = DisturbedJob.answer();
        AtomicInteger done = new AtomicInteger();
        AtomicLong next = new AtomicLong(seed);
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        try (ExecutorService jobs = Executors.newFixedThreadPool(Integer.getInteger("udckpt.host.jobs", 1))) {
            for (int run = 0; run < runs; run++) {
                jobs.execute(() -> {
                    boolean touched;
                    do {
                        long one = next.getAndIncrement();
                        String end;
                        try {
                            List<Happened> happened = disturbed(one, answer);
                            touched = happened.stream().anyMatch(Happened::touched);
                            end = "passed: " + happened;
                        } catch (Throwable failure) { // an assertion too: the other runs are made all the same
                            failures.add(failure);
                            touched = true;
                            end = "FAILED: " + failure;
                        }
                        System.err
                                .println("hosts: " + (touched ? done.incrementAndGet() + " of " + runs : "not counted")
                                        + ", seed " + one + ": " + end);
                    } while (!touched);
                });
            }
        }
        if (!failures.isEmpty()) {
            AssertionError all = new AssertionError(failures.size() + " of " + runs + " runs failed");
            failures.forEach(all::addSuppressed);
            throw all;
        }
    }

    /** What happened. */
    private static List<Happened> disturbed(long seed, String answer) throws Exception {
        Random random = new Random(seed);
        try (DisturbedJob job = new DisturbedJob("seed " + seed, random.nextBoolean() ? 2 : 16)) {
            List<Happened> happened = new ArrayList<>();
            for (int faults = 1 + random.nextInt(2); faults > 0 && job.lead.isAlive(); faults--) {
                Thread.sleep(random.nextInt(4000));
                happened.add(happens(job, KINDS.get(random.nextInt(KINDS.size())), host(job, random), random));
            }
            job.ends("seed " + seed + ", " + happened, answer, happened.stream()
                    .anyMatch(fault -> fault.what.contains("CRASH") || fault.what.startsWith("KILL_AGENT")));
            return happened;
        }
    }

    /** What it was, and where. */
    private static Happened happens(DisturbedJob job, Fault fault, int number, Random random) throws Exception {
        SeveralHosts hosts = job.hosts;
        boolean touched = job.lead.isAlive() && !hosts.programs(number).isEmpty();
        Host host = hosts.lab.host(number);
        switch (fault) {
            case CRASH -> hosts.crash(number);
            case KILL_AGENT -> DisturbedJob.signal("KILL", hosts.pids(number, "java"));
            case KILL_RANK -> DisturbedJob.signal("KILL", hosts.pids(number, "stencil_cg"));
            case PAUSE_AGENT -> {
                List<Long> agents = hosts.pids(number, "java");
                DisturbedJob.signal("STOP", agents);
                Thread.sleep(random.nextInt(6000));
                DisturbedJob.signal("CONT", agents);
            }
            case SHORT_CUT -> cut(hosts, number, random.nextInt(4000));
            case LONG_CUT -> cut(hosts, number, 5000 + random.nextInt(4000));
            case CUT_BETWEEN -> {
                int other = 2 + (number - 1) % (DisturbedJob.HOSTS + DisturbedJob.SPARES);
                hosts.lab.isolate(Set.of(number, other));
                Thread.sleep(random.nextInt(9000));
                hosts.lab.heal();
            }
            case KILL_LEAD -> {
                if (!job.lead.isAlive()) {
                    // its code counts
                    return new Happened("nothing: the lead had ended before it was to be killed", false);
                }
                job.killLead();
                return new Happened(fault.toString(), true);
            }
            case SLOW -> {
                return slow(hosts, number, random);
            }
        }
        return new Happened(fault + " of host " + host.number(), touched);
    }

    private static void cut(SeveralHosts hosts, int number, long millis) throws InterruptedException {
        hosts.lab.partition(Set.of(number));
        Thread.sleep(millis);
        hosts.lab.heal();
    }

    /** At some of all hosts, also the lead's; half of the runs restart in it. */
    private static Happened slow(SeveralHosts hosts, int number, Random random) throws Exception {
        Trouble trouble = Trouble.ofChance(random);
        List<Integer> where = hosts.lab.hosts().stream().map(Host::number).filter(_ -> random.nextBoolean()).toList();
        boolean touched = !busy(hosts, where).isEmpty() || where.contains(1);
        where.forEach(each -> hosts.lab.trouble(hosts.lab.host(each), trouble));
        Thread.sleep(random.nextInt(6000));
        boolean crash = random.nextBoolean();
        if (crash) {
            hosts.crash(number);
            Thread.sleep(random.nextInt(15_000));
        }
        hosts.lab.calm();
        return new Happened("SLOW by " + trouble + " of hosts " + where + (crash ? ", CRASH of host " + number : ""),
                touched);
    }
}
