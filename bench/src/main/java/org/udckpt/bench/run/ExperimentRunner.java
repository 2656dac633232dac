package org.udckpt.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.udckpt.bench.job.BenchPaths;
import org.udckpt.bench.job.EndedTooEarly;
import org.udckpt.bench.job.Trees;
import org.udckpt.bench.job.Workplace;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.workload.Answer;
import org.udckpt.bench.workload.Figure;
import org.udckpt.bench.workload.Judgement;
import org.udckpt.linux.Proc;

/** Makes measurements, one after the other, each in a directory of its own. */
final class ExperimentRunner {
    private static final int ATTEMPTS = 4;
    private final BenchPaths place;
    private final Optional<String> device;
    private final RunHistory experience = new RunHistory();

    /** @param device a real one; empty: the soft fabric */
    ExperimentRunner(BenchPaths place, Optional<String> device) {
        this.place = place;
        this.device = device;
    }

    /** Rows of an earlier process: they say how long things take. */
    void remember(Trial trial, List<Row> rows) {
        experience.learn(trial, rows);
    }

    /** The run's row first. A run that fails is a result too: only what is no run's fault is thrown. */
    List<Row> measure(Trial trial) throws IOException, InterruptedException {
        long load = load();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Path directory = place.results().resolve(trial.id());
            Trees.remove(directory);
            Files.createDirectories(directory);
            boolean isKept = false;
            try (Workplace workplace = new Workplace(trial.cell(), place, directory, environment(trial.mode()))) {
                workplace.prepare();
                RunResult outcome = runs(trial, attempt).of(workplace);
                Answer.Run left = workplace.left(outcome.printed());
                Judgement judgement =
                        outcome.failure() != null ? new Judgement(false, outcome.failure()) : judged(trial, left);
                List<Row> rows = new ArrayList<>(List.of(row(trial, outcome, judgement, left, load)));
                rows.addAll(outcome.rows());
                experience.learn(trial, rows);
                isKept = !judgement.isRight()
                        || trial.mode() instanceof Mode.Native && experience.result(trial.cell()).isEmpty();
                if (judgement.isRight() && trial.mode() instanceof Mode.Native) {
                    experience.learn(trial.cell(), left);
                }
                return rows;
            } catch (EndedTooEarly e) {
                // once more, with a checkpoint that comes sooner
            } finally {
                if (!isKept) {
                    Trees.remove(directory);
                }
            }
        }
        String early = "it ended before its checkpoint, " + ATTEMPTS + " times: make its input larger";
        return List.of(row(trial, new RunResult(0, List.of(), early, List.of(), ""), new Judgement(false, early),
                new Answer.Run(place.results(), List.of()), load));
    }

    private Judgement judged(Trial trial, Answer.Run left) throws IOException {
        Answer answer = trial.cell().workload().answer();
        Optional<Answer.Run> result = experience.result(trial.cell());
        return result.isPresent() ? answer.compare(result.get(), left) : answer.alone(left);
    }

    private static Map<String, String> environment(Mode mode) {
        return switch (mode) {
            case Mode.Native _ -> Map.of("UDCKPT_VIRTUALIZE", "0");
            case Mode.Peer _,Mode.PeerRestarted _,Mode.PeerNative _ -> Dmtcp.ENVIRONMENT;
            case Mode.Preloaded _,Mode.Every _,Mode.Restarted _ -> Map.of();
        };
    }

    private Runner runs(Trial trial, int attempt) {
        List<String> options = device.map(name -> List.of("--device", name)).orElse(List.of());
        List<String> bare = trial.cell().launcher().bare(trial.cell().build(), trial.cell().ranks(), place.session());
        return switch (trial.mode()) {
            case Mode.Native _ when device.isPresent() -> new BareRunner(bare, place.limit());
            case Mode.Native _,Mode.Preloaded _ -> new ThroughRunner(options);
            case Mode.Every every -> new ThroughRunner(with(options, "--interval", every.interval().toMillis() + "ms"));
            case Mode.Restarted _ -> new RestartRunner(trial.cell(), options, experience.shortest(trial.cell()),
                    attempt);
            case Mode.PeerNative _ -> new BareRunner(bare, place.limit());
            case Mode.Peer peer -> new BareRunner(Dmtcp.launch(peer.interval(), bare), place.limit());
            case Mode.PeerRestarted _ -> new DmtcpRestartRunner(trial.cell(), bare, experience.shortest(trial.cell()),
                    attempt, place.limit());
        };
    }

    private static List<String> with(List<String> options, String... more) {
        List<String> all = new ArrayList<>(options);
        all.addAll(List.of(more));
        return all;
    }

    private Row.Run row(Trial trial, RunResult outcome, Judgement judgement, Answer.Run left, long load)
            throws IOException {
        var cell = trial.cell();
        Optional<Figure> figure = cell.workload().figure();
        long millionths = figure.isPresent()
                ? Math.round(1e6 * figure.get().in(cell.workload().answer().output(left)).orElse(0)) : 0;
        String known = cell.workload().known().isEmpty() ? null : String.join("; ", cell.workload().known());
        return new Row.Run(trial.id(), cell.workload().name(), cell.ranks(), cell.launcher().word(),
                cell.transport().word(), trial.mode().word(), trial.repeat(), outcome.ns(),
                figure.map(Figure::unit).orElse(null), figure.map(Figure::isRate).orElse(false), millionths,
                judgement.isRight(),
                judgement.words().lines().findFirst().orElse("").replace(place.root() + "/", ""), known, load,
                outcome.command());
    }

    private static long load() throws IOException {
        return Math.round(1000 * Double.parseDouble(Proc.text("/proc/loadavg").split(" ")[0]));
    }
}
