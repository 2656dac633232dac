package org.udckpt.job.system;

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
import org.junit.jupiter.api.TestFactory;
import org.udckpt.image.write.Phase;
import org.udckpt.job.command.CommandClient;
import org.udckpt.job.hosts.HostLab;
import org.udckpt.job.report.Failure;
import org.udckpt.job.runtime.RuntimeDirectory;

/**
 * Whatever is lost in whatever phase of a checkpoint, the job goes on from the last good one within a bounded time, and ends with the right answer: an agent, a host,
 * a rank or the lead, killed in the moment in which its agent says that it is in the phase. One case of chance, or as many as are asked for: {@code -Dudckpt.host.phases=N}, chosen by
 * {@code -Dudckpt.seed=S}; {@code ./udckpt test phases}.
 */
class HostPhaseFaultsTest {
    private static final List<Phase> PHASES = List.of(Phase.SUSPEND, Phase.DRAIN, Phase.SNAPSHOT, Phase.RESUME, Phase.WRITE);
    private static final Duration BOUND = Duration.ofSeconds(30); // the lease is 4 s; on a machine on which everything waits for two processors

    private enum Lost { AGENT, HOST, RANK, LEAD }

    private record Case(Lost lost, Phase phase, int host) {
        @Override
        public String toString() {
            return lost + " lost in " + phase.name().toLowerCase(Locale.ROOT) + (lost == Lost.LEAD ? "" : " (host " + host + ")");
        }
    }

    @TestFactory
    Stream<DynamicTest> theJobGoesOn() throws Exception {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
        long seed = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
        Random random = new Random(seed);
        List<Case> cases = new ArrayList<>();
        for (Lost lost : Lost.values()) {
            PHASES.forEach(phase -> cases.add(new Case(lost, phase, 2 + random.nextInt(DisturbedJob.HOSTS))));
        }
        Collections.shuffle(cases, random);
        System.err.println("phases: seed " + seed);
        String answer = DisturbedJob.answer();
        return cases.stream().limit(Integer.getInteger("udckpt.host.phases", 1)).map(one -> DynamicTest.dynamicTest(one.toString(), () -> run(one, answer)));
    }

    private static void run(Case one, String answer) throws Exception {
        try (DisturbedJob job = new DisturbedJob(one.toString(), 2)) {
            String before = job.hosts.errors("job");
            List<Long> pids = switch (one.lost) {
                case AGENT -> job.hosts.pids(one.host, "java");
                case HOST -> job.hosts.allPids(one.host);
                case RANK -> job.hosts.pids(one.host, "stencil_cg");
                case LEAD -> List.of(job.lead.pid());
            };
            assertTrue(!pids.isEmpty(), () -> one + ": nothing runs there\n" + job.hosts.text("job"));
            String name = one.lost == Lost.LEAD ? "job" : "job." + job.hosts.lab.host(one.host).namespace();
            String state = awaitPhase(job, new RuntimeDirectory(job.hosts.directory.resolve("run").resolve(name)), one.phase);
            pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
            long lost = System.nanoTime();
            if (one.lost == Lost.HOST) {
                job.hosts.crash(one.host);
            }
            if (one.lost == Lost.LEAD) {
                job.killLead();
                within(lost, one + ": the end of all ranks", job, job::noProgramsRun);
            } else {
                within(lost, one + ": a restart", job, () -> job.hosts.errors("job").substring(before.length()).contains("restarting it from"));
            }
            System.err.printf(Locale.ROOT, "phases: %s, which said '%s': %s after %.1f s%n", one, state, one.lost == Lost.LEAD ? "no rank was left" : "the restart began", (System.nanoTime() - lost) / 1e9);
            job.ends(one.toString(), answer, one.lost != Lost.RANK);
        }
    }

    /**
     * Until an agent says that it is in this phase of a checkpoint, or in a later one where it was through with it in less time than an answer takes (a
     * millisecond, when the machine is quiet). Returns what it said.
     */
    private static String awaitPhase(DisturbedJob job, RuntimeDirectory runtime, Phase phase) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        boolean running = false; // it is the beginning of one that is waited for
        while (true) {
            String state = state(runtime, phase, job);
            running |= state.equals("running");
            if (running && !state.equals("running") && Phase.valueOf(state.toUpperCase(Locale.ROOT)).compareTo(phase) >= 0) {
                return state;
            }
            assertTrue(System.nanoTime() < end, () -> phase + " did not come\n" + job.hosts.text("job"));
        }
    }

    private static String state(RuntimeDirectory runtime, Phase awaited, DisturbedJob job) throws IOException {
        try (CommandClient agent = CommandClient.connect(runtime)) {
            return agent.ask(agent.request("status"), event -> { }).path("job").path("state").asText();
        } catch (Failure e) {
            throw new IOException("before " + awaited + " came: " + job.hosts.text("job"), e);
        }
    }

    private static void within(long since, String what, DisturbedJob job, RunningJob.Condition condition) throws Exception {
        while (!condition.holds()) {
            assertTrue(System.nanoTime() - since < BOUND.toNanos(), () -> what + " did not come within " + BOUND.toSeconds() + " s\n" + job.hosts.text("job"));
            Thread.sleep(20);
        }
    }
}
