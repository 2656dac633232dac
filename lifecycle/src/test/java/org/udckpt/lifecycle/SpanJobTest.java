package org.udckpt.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.address.DatagramKey;
import org.udckpt.address.RankSpan;
import org.udckpt.agent.Job;
import org.udckpt.agent.JobContext;
import org.udckpt.agent.JobFacts;
import org.udckpt.cluster.MemoryNodes;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.LaunchMode;
import org.udckpt.lifecycle.job.JobStart;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;

/** Real shepherds with real ranks, a shell that speaks PMI-1, of which each agent has a part. */
@Timeout(120)
class SpanJobTest {
    private static final HostLayout LAYOUT = HostLayout.parse("a:2,b:3");
    private static final List<RankSpan> SPANS = List.of(new RankSpan(0, 2, 5), new RankSpan(2, 3, 5));
    private static final String BEGIN = """
            ask() { echo "cmd=$1" >&$PMI_FD; IFS= read -r -u $PMI_FD answer; }
            ask 'init pmi_version=1 pmi_subversion=1'
            ask get_my_kvsname
            kvs=${answer##*kvsname=}
            ask "put kvsname=$kvs key=card$PMI_RANK value=of$PMI_RANK"
            ask barrier_in
            """;

    @TempDir
    Path directory;

    private final MemoryNodes nodes = new MemoryNodes(1, 2, SPANS.size());
    private final List<Job> jobs = new ArrayList<>();
    private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();

    private void start(String script) {
        Settings settings = Settings.load().flag(Option.RUNTIME, directory.resolve("runtime").toString())
                .flag(Option.DEVICE, "soft");
        for (int unit = 0; unit < SPANS.size(); unit++) {
            int of = unit;
            JobFacts facts = new JobFacts("span", directory, LaunchMode.RANKS, LAYOUT, SPANS.get(unit), List.of("bash"),
                    0, null);
            JobContext around = new JobContext("span" + unit, directory, System.getenv(), true, List.of(), map -> map,
                    DatagramKey.random());
            jobs.add(JobStart.start(settings, Installation.find(settings), facts, around,
                    List.of("/bin/bash", "-c", BEGIN + script), System.getenv(), job -> {
                        job.onEnd((code, why) -> ended.add(of + " " + code + " " + why));
                        nodes.pmi(of).serve(job.pmi());
                    }));
        }
    }

    @AfterEach
    void end() {
        jobs.forEach(Job::close);
        nodes.close();
    }

    @Test
    void ranksOfTwoAgentsAreOneJob() throws Exception {
        start("""
                for ((other = 0; other < PMI_SIZE; other++)); do
                    ask "get kvsname=$kvs key=card$other"
                    cards="$cards ${answer##*value=}"
                done
                echo "$UDCKPT_RANK $PMI_SIZE $MPI_LOCALRANKID $MPI_LOCALNRANKS$cards" > rank$PMI_RANK
                ask "get kvsname=$kvs key=PMI_process_mapping"
                echo "${answer##*value=}" >> rank$PMI_RANK
                ask barrier_in
                ask finalize
                exit $((PMI_RANK == 1 ? 4 : 0))
                """);
        assertEquals(4, jobs.get(0).await());
        assertEquals(0, jobs.get(1).await());
        Map<Integer, String> places = Map.of(0, "0 2", 1, "1 2", 2, "0 3", 3, "1 3", 4, "2 3");
        places.forEach((rank, place) -> assertEquals(
                List.of(rank + " 5 " + place + " of0 of1 of2 of3 of4", "(vector,(0,1,2),(1,1,3))"),
                lines("rank" + rank)));
        assertTrue(ended.isEmpty(), "nobody ended the job");
        assertEquals("b", jobs.get(1).hosts().hosts().getFirst().name());
        assertEquals(1, jobs.get(1).hosts().hosts().size());
    }

    @Test
    void processesWithADeviceHaveTheirRanksNumbersAndCounters() throws Exception {
        start("""
                ibv_devinfo > device$PMI_RANK 2>&1
                echo $? >> device$PMI_RANK
                ask finalize
                """);
        for (Job job : jobs) {
            assertEquals(0, job.await());
        }
        for (int rank = 0; rank < LAYOUT.ranks(); rank++) {
            List<String> said = lines("device" + rank);
            assertTrue(said.getFirst().contains("soft0") && said.getLast().equals("0"), String.join("\n", said));
        }
        assertEquals(2, jobs.get(0).counted().size());
        assertEquals(3, jobs.get(1).counted().size());
    }

    @Test
    void oneThatDiesEndsThoseElsewhereByItsAgentsWord() throws Exception {
        start("""
                if [ $PMI_RANK = 3 ]; then kill -9 $$; fi
                exec sleep 600
                """);
        String first = ended.poll(60, TimeUnit.SECONDS);
        assertTrue(first.startsWith("1 ") && first.contains("rank 3 "), first);
        assertEquals(9, jobs.get(1).await());
        assertEquals(List.of(0, 1),
                jobs.get(0).ranks().ranks().stream().filter(rank -> rank.alive()).map(rank -> rank.rank()).toList());
        jobs.get(0).endElsewhere();
        assertEquals(0, jobs.get(0).await());
        assertTrue(ended.isEmpty());
    }

    private List<String> lines(String name) {
        try {
            return Files.readAllLines(directory.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
