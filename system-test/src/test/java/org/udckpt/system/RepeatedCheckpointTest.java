package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Many checkpoints of one job: by itself, several at once, with and without waiting, and the old ones that go. */
@Timeout(180)
class RepeatedCheckpointTest {
    private static final int KEEP = 2;

    @Test
    void takenByItselfAndPruned() throws Exception {
        try (RunningJob job = RunningJob.ballast(2, "--interval", "200ms", "--keep", Integer.toString(KEEP))) {
            int most = 0;
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (job.complete().stream().noneMatch(name -> name.compareTo("ckpt-0004") >= 0)) {
                assertTrue(System.nanoTime() < end, () -> "no fourth checkpoint\n" + job.text());
                int complete = job.complete().size();
                assertTrue(complete >= Math.min(most, KEEP),
                        () -> "of " + KEEP + " good checkpoints " + complete + " are left\n" + job.text());
                most = Math.max(most, complete);
                Thread.sleep(5);
            }
            job.finish();
            List<String> names = job.images().stream().map(Catalogue.Entry::name).toList();
            assertEquals(KEEP, names.size(), () -> names + "\n" + job.text());
            job.assertOnly(names.toArray(String[]::new));
            assertEquals(number(names.getFirst()) + 1, number(names.getLast()), "the newest ones stay");
        }
    }

    /**
     * The first after a hundredth of 20 s; its cost of some milliseconds makes the next ones due in about a second
     * each.
     */
    @Tag("slow")
    @Test
    void asOftenAsPays() throws Exception {
        try (RunningJob job = RunningJob.ballast(2, "--mtbf", "20s")) {
            job.await("a third checkpoint", () -> job.complete().size() >= 3);
            job.finish();
            List<String> chosen = job.errors().lines().filter(line -> line.contains("checkpoint interval ")).toList();
            assertTrue(!chosen.isEmpty() && chosen.getFirst().matches("udckpt: checkpoint interval .*: cost .* "
                    + "\\(stop .*, write .*\\), mean time between failures 20.00 s \\(Young .*, Daly .*\\)"),
                    job::text);
            job.assertOnly(job.complete().toArray(String[]::new));
        }
    }

    /** 2 ranks of 16 MiB at 16 MiB a second: the job runs on for two seconds while the image is written. */
    @Tag("slow")
    @Test
    void heldBack() throws Exception {
        try (RunningJob job = RunningJob.ballast(16, "--max-rate", "16M", "--io-idle", "--buffer", "4M")) {
            job.checkpoint(false, false, _ -> {});
            // just after the job goes on
            job.await("the write", () -> job.status().path("state").asText().equals("write"));
            job.assertUnhurt(RunningJob.RANKS);
            assertTrue(job.images().getFirst().manifest().writeNanos() > 1_500_000_000L, () -> job.text());
            job.finish();
        }
    }

    private static int number(String name) {
        return Integer.parseInt(name.substring("ckpt-".length()));
    }

    @Tag("slow")
    @Test
    void withoutWaitingAndTwoAtOnce() throws Exception {
        try (RunningJob job = RunningJob.ballast(32)) {
            String first = job.checkpoint(false, false, _ -> {});
            Catalogue.Entry entry = job.images().getFirst();
            assertEquals(first, entry.name());
            assertFalse(entry.state() == Catalogue.State.CORRUPT, entry.toString());
            assertTrue(entry.state() == Catalogue.State.COMPLETE || entry.inProgress(), entry.toString());
            List<String> taken = new ArrayList<>(List.of(first));
            List<CompletableFuture<String>> rivals = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                rivals.add(CompletableFuture.supplyAsync(() -> idOrBusy(job)));
            }
            for (CompletableFuture<String> rival : rivals) {
                String id = rival.get(60, TimeUnit.SECONDS);
                if (!id.isEmpty()) {
                    taken.add(id);
                }
            }
            job.await("the end of the first write", () -> job.status().path("state").asText().equals("running"));
            taken.add(job.checkpoint());
            job.assertUnhurt(RunningJob.RANKS);
            job.assertOnly(taken.stream().sorted().toArray(String[]::new));
            job.finish();
        }
    }

    /** Empty: another one is under way, and is named so. */
    private static String idOrBusy(RunningJob job) {
        try {
            return job.checkpoint();
        } catch (Failure e) {
            assertEquals(ExitCode.BUSY, e.code(), e.getMessage());
            assertTrue(e.getMessage().contains("in progress") && e.getMessage().contains("try again"), e.getMessage());
            return "";
        }
    }
}
