package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.hosts.HostLab;

/**
 * Whatever is lost in whatever phase of a checkpoint or of a restart, the job goes on from the last good one within a
 * bounded time, and ends with the right answer: an agent, a host, a rank or the lead, killed in the moment in which an
 * agent says that it begins the phase. One case of chance, or as many as are asked for: {@code -Dudckpt.host.phases=N},
 * chosen by {@code -Dudckpt.seed=S}; {@code ./udckpt test phases} makes all.
 */
@Tag("slow")
class HostPhaseFaultsTest {
    /** Phases in which an agent works; tables are exchanged between START and CONNECT. */
    private static final List<Op> PHASES = List.of(Op.SUSPEND, Op.DRAIN, Op.SNAPSHOT, Op.RESUME, Op.WRITE, Op.COMMIT,
            Op.FILES, Op.START, Op.CONNECT, Op.OPEN);
    // the lease is 4 s; on a machine on which everything waits for two processors
    private static final Duration BOUND = Duration.ofSeconds(30);

    private enum Lost {
        AGENT, HOST, RANK, LEAD
    }

    /** @param host whose agent is listened to, and who or whose agent or rank is lost */
    private record Case(Lost lost, Op phase, int host) {
        boolean ofRestart() {
            return phase.compareTo(Op.ABORT) > 0;
        }

        @Override
        public String toString() {
            return lost + " lost in " + phase.name().toLowerCase(Locale.ROOT)
                    + (lost == Lost.LEAD ? "" : " (host " + host + ")");
        }
    }

    @TestFactory
    Stream<DynamicTest> theJobGoesOn() throws Exception {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
        long seed = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
        Random random = new Random(seed);
        List<Case> cases = new ArrayList<>();
        for (Lost lost : Lost.values()) {
            for (Op phase : PHASES) {
                if (lost != Lost.RANK || phase != Op.FILES) { // there is none yet
                    cases.add(new Case(lost, phase, 2 + random.nextInt(DisturbedJob.HOSTS)));
                }
            }
        }
        Collections.shuffle(cases, random);
        System.err.println("phases: seed " + seed);
        String answer = DisturbedJob.answer();
        return cases.stream().limit(Integer.getInteger("udckpt.host.phases", 1))
                .map(one -> DynamicTest.dynamicTest(one.toString(), () -> run(one, answer)));
    }

    private static void run(Case one, String answer) throws Exception {
        try (DisturbedJob job = new DisturbedJob(one.toString(), 2, "--debug")) {
            if (one.ofRestart()) {
                int other = 2 + (one.host - 1) % DisturbedJob.HOSTS;
                int before = job.hosts.errors("job").length();
                DisturbedJob.signal("KILL", job.hosts.pids(other, "stencil_cg"));
                awaitPhase(job, one.host, Op.FILES, before);
            }
            List<Long> pids = one.lost == Lost.RANK && one.ofRestart() ? List.of() : pids(job, one);
            awaitPhase(job, one.host, one.phase,
                    one.ofRestart() ? job.hosts.errors("job").lastIndexOf(begins(job, one.host, Op.FILES))
                            : job.hosts.errors("job").length());
            pids = pids.isEmpty() ? restoredRanks(job, one) : pids;
            pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
            long lost = System.nanoTime();
            String said = job.hosts.errors("job");
            if (one.lost == Lost.HOST) {
                job.hosts.crash(one.host);
            }
            if (one.lost == Lost.LEAD) {
                job.killLead();
                within(lost, one + ": the end of all agents and ranks", job, job::nothingRuns);
            } else {
                within(lost, one + ": a restart", job,
                        () -> job.hosts.errors("job").substring(said.length()).contains("restarting it from"));
            }
            System.err.printf(Locale.ROOT, "phases: %s, whose agent last began %s: %s after %.1f s%n", one,
                    last(job, one.host, said), one.lost == Lost.LEAD ? "nothing was left" : "the restart began",
                    (System.nanoTime() - lost) / 1e9);
            job.ends(one.toString(), answer, one.lost != Lost.RANK);
        }
    }

    private static List<Long> pids(DisturbedJob job, Case one) throws IOException {
        List<Long> pids = switch (one.lost) {
            case AGENT -> job.hosts.pids(one.host, "java");
            case HOST -> job.hosts.allPids(one.host);
            case RANK -> job.hosts.pids(one.host, "stencil_cg");
            case LEAD -> List.of(job.lead.pid());
        };
        assertFalse(pids.isEmpty(), () -> one + ": nothing runs there\n" + job.hosts.text("job"));
        return pids;
    }

    /** While a restart makes them they get their names one after the other. */
    private static List<Long> restoredRanks(DisturbedJob job, Case one) throws Exception {
        job.hosts.await("a rank on host " + one.host, "job", () -> !job.hosts.pids(one.host, "stencil_cg").isEmpty());
        return pids(job, one);
    }

    private static String begins(DisturbedJob job, int host, Op phase) {
        return "unit " + job.hosts.lab.host(host).namespace() + " begins " + phase.name().toLowerCase(Locale.ROOT)
                + "\n";
    }

    /** Until the agent says behind {@code from} that it begins this phase. */
    private static void awaitPhase(DisturbedJob job, int host, Op phase, int from) throws IOException {
        String begins = begins(job, host, phase);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (job.hosts.errors("job").indexOf(begins, from) < 0) {
            assertTrue(System.nanoTime() < end, () -> begins.strip() + " did not come\n" + job.hosts.text("job"));
        }
    }

    /** What it had got to before it was lost: a phase may take less time than to hear of it. */
    private static String last(DisturbedJob job, int host, String said) {
        String begins = "unit " + job.hosts.lab.host(host).namespace() + " begins ";
        return said.substring(said.lastIndexOf(begins) + begins.length()).lines().findFirst().orElseThrow();
    }

    private static void within(long since, String what, DisturbedJob job, RunningJob.Condition condition)
            throws Exception {
        while (!condition.holds()) {
            assertTrue(System.nanoTime() - since < BOUND.toNanos(),
                    () -> what + " did not come within " + BOUND.toSeconds() + " s\n" + job.hosts.text("job"));
            Thread.sleep(20);
        }
    }
}
