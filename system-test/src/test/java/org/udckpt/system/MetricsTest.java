package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * {@code --metrics} and {@code --metrics-listen}: what they say of a job through its incarnations, read by the parser
 * of the Prometheus project.
 */
@Timeout(300)
class MetricsTest {
    private static final int MEBIBYTES = 2;
    private static final Pattern ADDRESS = Pattern.compile("metrics at (http://127\\.0\\.0\\.1:\\d+/metrics)");
    /**
     * For the system's own python, which has the system's package of it. Prints each sample as the parser understands
     * it: name, labels in order, value.
     */
    private static final String PARSE = """
            import sys
            if sys.argv[1] == 'openmetrics':
                from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
            else:
                from prometheus_client.parser import text_string_to_metric_families as parse
            for family in parse(sys.stdin.read()):
                for sample in family.samples:
                    labels = ','.join('%s=%s' % item for item in sorted(sample.labels.items()) \
                        if item[0] not in ('directory', 'program', 'name'))
                    print('%s{%s} %s' % (sample.name, labels, sample.value))
            """;

    private static Map<String, Double> parsed(String format, String text) throws Exception {
        Process python = new ProcessBuilder("/usr/bin/python3", "-c", PARSE, format).redirectErrorStream(true).start();
        try (var in = python.getOutputStream()) {
            in.write(text.getBytes(StandardCharsets.UTF_8));
        }
        String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, python.waitFor(), said + "\n" + text);
        Map<String, Double> samples = new HashMap<>();
        said.lines().forEach(line -> samples.put(line.substring(0, line.lastIndexOf(' ')),
                Double.valueOf(line.substring(line.lastIndexOf(' ') + 1))));
        return samples;
    }

    private static Map<String, Double> read(Path file) throws Exception {
        return parsed("openmetrics", Files.readString(file));
    }

    private static String ask(RunningJob job, String method, String accept, int status) throws Exception {
        Matcher matcher = ADDRESS.matcher(job.errors());
        assertTrue(matcher.find(), job::text);
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create(matcher.group(1)))
                            .method(method, HttpRequest.BodyPublishers.noBody()).header("Accept", accept).build(),
                    HttpResponse.BodyHandlers.ofString());
            assertEquals(status, answer.statusCode());
            if (status == 200) {
                assertTrue(answer.headers().firstValue("Content-Type").orElseThrow().startsWith(accept.split(";")[0]),
                        answer.headers().toString());
            }
            return answer.body();
        }
    }

    /** Two checkpoints, a rank that dies, another incarnation: in the file and over HTTP. */
    @Test
    void aJobThroughItsIncarnations() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        Path file = directory.resolve("metrics.txt");
        try (RunningJob job = RunningJob.ballast(directory, directory.resolve("images"), MEBIBYTES, "--metrics",
                file.toString(), "--metrics-listen", "0", "--restart-on-failure")) {
            String open = "application/openmetrics-text; version=1.0.0";
            Map<String, Double> first = parsed("openmetrics", ask(job, "GET", open, 200));
            assertEquals(0, first.get("udckpt_checkpoints_total{}"), first.toString());
            assertEquals(1, first.get("udckpt_state{udckpt_state=running}"), first.toString());
            assertEquals(2, first.get("udckpt_ranks{}"), first.toString());
            assertFalse(first.containsKey("udckpt_last_checkpoint_timestamp_seconds{}"), first.toString());
            job.checkpoint();
            job.checkpoint();
            Map<String, Double> second = parsed("openmetrics", ask(job, "GET", open, 200));
            assertCheckpoints(second, job);
            assertEquals(second.keySet(),
                    parsed("prometheus", ask(job, "GET", "text/plain; version=0.0.4", 200)).keySet());
            ask(job, "POST", open, 405);
            job.await("the file to have them",
                    () -> Files.readString(file).contains("udckpt_checkpoints_total{name=\"job\"} 2.0"));
            kill(job);
            job.await("the next incarnation in the file",
                    () -> Files.readString(file).contains("udckpt_restarts_total{name=\"job\"} 1.0"));
            Map<String, Double> third = read(file);
            assertEquals(1, third.get("udckpt_failures_total{}"), third.toString());
            assertEquals(2, third.get("udckpt_checkpoints_total{}"), third.toString()); // of both incarnations
            job.await("the next incarnation", () -> Files.exists(job.runtime().resolve("command.sock")));
            job.finish();
            Map<String, Double> last = read(file);
            assertEquals(1, last.get("udckpt_state{udckpt_state=ended}"), last.toString());
            assertEquals(0, last.get("udckpt_ranks{}"), last.toString());
            assertTrue(last.get("udckpt_sends_total{transport=UD}") > 0, last.toString());
        }
    }

    private static void assertCheckpoints(Map<String, Double> samples, RunningJob job) throws IOException {
        String all = samples.toString();
        assertEquals(2, samples.get("udckpt_checkpoints_total{}"), all);
        assertEquals(0, samples.get("udckpt_checkpoint_failures_total{}"), all);
        long bytes = job.images().stream().mapToLong(entry -> entry.manifest().bytes()).sum();
        long stored = job.images().stream().mapToLong(entry -> entry.manifest().storedBytes()).sum();
        assertEquals(bytes, samples.get("udckpt_checkpoint_memory_bytes_total{}"), all);
        assertEquals(stored, samples.get("udckpt_checkpoint_stored_bytes_total{}"), all);
        assertEquals(2, samples.get("udckpt_write_seconds_count{}"), all);
        assertEquals(2 * RunningJob.RANKS, samples.get("udckpt_stop_seconds_count{}"), all);
        assertEquals(samples.get("udckpt_stop_seconds_count{}"), samples.get("udckpt_stop_seconds_bucket{le=+Inf}"),
                all);
        for (String phase : new String[]{"suspend", "drain", "snapshot"}) {
            assertEquals(2, samples.get("udckpt_phase_seconds_count{phase=" + phase + "}"), all);
            assertTrue(samples.get("udckpt_phase_seconds_sum{phase=" + phase + "}") > 0, all);
        }
        assertTrue(samples.get("udckpt_last_write_bytes_per_second{}") > 0, all);
        assertEquals(job.images().getLast().manifest().takenAt().toEpochMilli() / 1e3,
                samples.get("udckpt_last_checkpoint_timestamp_seconds{}"), 1e-3, all);
        assertEquals(0, samples.get("udckpt_write_pending_bytes{}"), all);
        assertTrue(samples.get("udckpt_sends_total{transport=UD}") >= samples.get("udckpt_sends_rewritten_total{}"),
                all);
        assertTrue(samples.get("udckpt_sends_rewritten_total{}") > 0, all);
    }

    private static void kill(RunningJob job) {
        ProcessHandle.of(job.rankPid(0)).orElseThrow().destroyForcibly();
    }

    /** The job is connected to somebody outside; the file is one for Prometheus' own collector of files. */
    @Test
    void failedCheckpointsAreCounted() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        Path file = Files.createDirectory(directory.resolve("m")).resolve("udckpt.prom");
        try (ServerSocket outside = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                RunningJob job = RunningJob.script(directory,
                        "exec /bin/bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + outside.getLocalPort()
                                + "; touch ready; until [ -e finish ]; do sleep 0.05; done'",
                        "--metrics", file.toString())) {
            job.failingCheckpoint();
            job.await("the failure in the file",
                    () -> Files.readString(file).contains("udckpt_checkpoint_failures_total{name=\"job\"} 1.0"));
            Files.createFile(directory.resolve("finish"));
            job.assertEnds(0);
            Map<String, Double> samples = parsed("prometheus", Files.readString(file));
            assertEquals(1, samples.get("udckpt_checkpoint_failures_total{}"), samples.toString());
            assertEquals(0, samples.get("udckpt_checkpoints_total{}"), samples.toString());
            try (Stream<Path> files = Files.list(file.getParent())) {
                assertEquals(1, files.count()); // no unfinished ones beside it
            }
        }
    }

    @Test
    void wrongSettingsAreRefusedBeforeAnythingIsStarted() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        CommandLine commands = new CommandLine(directory);
        assertEquals(64, commands.run("a", 60, "run", "--metrics", "none/such", "--", "/bin/echo", "started"));
        assertEquals(64, commands.run("b", 60, "run", "--metrics-listen", "80 80", "--", "/bin/echo", "started"));
        assertEquals(64, commands.run("c", 60, "run", "--metrics-listen", "70000", "--", "/bin/echo", "started"));
        for (String name : new String[]{"a", "b", "c"}) {
            assertFalse(commands.printed(name).contains("started\n"), commands.printed(name));
        }
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }
}
