package org.udckpt.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.job.Cell;
import org.udckpt.bench.job.EndedTooEarly;
import org.udckpt.bench.job.Workplace;
import org.udckpt.bench.measured.Row;

/**
 * A checkpoint by DMTCP after a quarter of the time, the end of all processes, and a restart that goes on to the end.
 *
 * @param words of the MPI library's own launcher
 * @param whole how long the job runs without that; empty: not known
 * @param attempt each one halves the time before the checkpoint
 * @param limit after which it counts as hanging
 */
record DmtcpRestartRunner(Cell cell, List<String> words, Optional<Duration> whole, int attempt,
        Duration limit) implements Runner {
    private static final String CHECKPOINT = "dmtcp";
    private static final Duration ITS_END = Duration.ofSeconds(2);

    @Override
    public RunResult of(Workplace workplace) throws EndedTooEarly, IOException, InterruptedException {
        List<String> launch = Dmtcp.launch(Duration.ZERO, words);
        String command = workplace.bareCommand(launch);
        long start = System.nanoTime();
        try (DmtcpJob first = new DmtcpJob(workplace, launch, limit)) {
            first.awaitProcesses(cell.ranks() + 1); // and the launcher
            first.goOn(
                    whole.orElse(RestartRunner.UNKNOWN).dividedBy(4L << attempt).minusNanos(System.nanoTime() - start));
            int processes = first.processes();
            long stop = first.checkpoint();
            List<String> images = first.images();
            if (images.size() != processes) {
                first.goOn(ITS_END); // the reason may be that it was about to end
                throw new BenchFailure(images.size() + " images of " + processes + " processes: " + images);
            }
            first.kill();
            long bytes = 0;
            for (String image : images) {
                bytes += Files.size(workplace.work().resolve(image));
            }
            List<String> again = Dmtcp.restart(images);
            long killed = System.nanoTime();
            try (DmtcpJob second = new DmtcpJob(workplace, again, limit)) {
                second.awaitProcesses(processes);
                long restart = System.nanoTime() - killed;
                List<String> printed = second.awaitEnd();
                return new RunResult(System.nanoTime() - start, printed, null,
                        List.of(new Row.Checkpoint(workplace.name(), CHECKPOINT, bytes, bytes, stop, stop, stop),
                                new Row.Restart(workplace.name(), CHECKPOINT, restart, bytes)),
                        command + "; dmtcp_command --bcheckpoint; dmtcp_command --kill; "
                                + workplace.bareCommand(again));
            }
        } catch (BenchFailure failure) {
            return new RunResult(System.nanoTime() - start, List.of(), failure.getMessage(), List.of(), command);
        }
    }
}
