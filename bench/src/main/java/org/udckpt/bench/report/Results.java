package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.udckpt.bench.measured.Row;

/**
 * The rows of one or more runs, by what they are about. Runs whose result was not right are only in {@link #wrong()}.
 */
final class Results {
    static final String NATIVE = "native";
    static final String PEER_NATIVE = "native over tcp";
    private static final String RESTARTED = "restarted", PEER = "dmtcp", PEER_RESTARTED = "dmtcp restarted";
    private final List<Row.Fact> facts = new ArrayList<>();
    private final List<Row.Run> runs = new ArrayList<>();
    private final List<Row.Checkpoint> checkpoints = new ArrayList<>();
    private final List<Row.Phase> phases = new ArrayList<>();
    private final List<Row.Restart> restarts = new ArrayList<>();

    Results(List<Row> rows) {
        for (Row row : rows) {
            switch (row) {
                case Row.Fact fact -> facts.add(fact);
                case Row.Run run -> runs.add(run);
                case Row.Checkpoint checkpoint -> checkpoints.add(checkpoint);
                case Row.Phase phase -> phases.add(phase);
                case Row.Restart restart -> restarts.add(restart);
            }
        }
    }

    List<Row.Fact> facts() {
        return facts;
    }

    List<Row.Run> runs() {
        return runs;
    }

    List<Row.Run> wrong() {
        return runs.stream().filter(run -> !run.right()).toList();
    }

    /** In the order of their names. */
    Set<Subject> subjects() {
        Map<String, Subject> byTitle = new TreeMap<>();
        runs.forEach(run -> byTitle.put(Subject.of(run).title(), Subject.of(run)));
        return new LinkedHashSet<>(byTitle.values());
    }

    /** Modes that are compared with a native run: not those with a restart, in which some work is done twice. */
    Set<String> modes() {
        Set<String> modes = new LinkedHashSet<>();
        Set<String> others = Set.of(NATIVE, PEER_NATIVE, RESTARTED, PEER_RESTARTED);
        runs.stream().map(Row.Run::mode).filter(mode -> !others.contains(mode)).sorted(ModeOrder.INSTANCE)
                .forEach(modes::add);
        return modes;
    }

    /** The right runs of a mode, by their repeat. */
    Map<Integer, Row.Run> runs(Subject subject, String mode) {
        Map<Integer, Row.Run> byRepeat = new LinkedHashMap<>();
        runs.stream().filter(run -> run.right() && Subject.of(run).equals(subject) && run.mode().equals(mode))
                .forEach(run -> byRepeat.put(run.repeat(), run));
        return byRepeat;
    }

    /**
     * Of each pair, how much longer the run took than the native one beside it, by its own rating if it has one, as a
     * part: 0.01 is 1%.
     */
    List<Double> overheads(Subject subject, String mode) {
        return overheads(subject, mode, Results::cost);
    }

    /** The same by the clock; empty where applications have no rating, and it would be the same again. */
    List<Double> overheadsOfTime(Subject subject, String mode) {
        return runs(subject, mode).values().stream().anyMatch(Results::isRated) ? overheads(subject, mode, Row.Run::ns)
                : List.of();
    }

    private List<Double> overheads(Subject subject, String mode, ToDoubleFunction<Row.Run> cost) {
        Map<Integer, Row.Run> natives = runs(subject, nativeOf(mode));
        List<Double> overheads = new ArrayList<>();
        runs(subject, mode).forEach((repeat, run) -> {
            Row.Run pair = natives.get(repeat);
            if (pair != null && isRated(run) == isRated(pair)) { // else the two costs are of different things
                overheads.add(cost.applyAsDouble(run) / cost.applyAsDouble(pair) - 1);
            }
        });
        return overheads;
    }

    /** What runs of a mode are compared with. */
    static String nativeOf(String mode) {
        return mode.startsWith(PEER) ? PEER_NATIVE : NATIVE;
    }

    /** What a run took, by its own rating if it has one; only its relation to another run's means something. */
    private static double cost(Row.Run run) {
        if (!isRated(run)) {
            return run.ns();
        }
        return run.isRate() ? 1.0 / run.figureMillionths() : run.figureMillionths();
    }

    private static boolean isRated(Row.Run run) {
        return run.unit() != null && run.figureMillionths() != 0;
    }

    List<Row.Checkpoint> checkpoints(Row.Run run) {
        return checkpoints.stream().filter(one -> one.trial().equals(run.trial())).toList();
    }

    /** How many checkpoints udckpt has taken in a run of a mode, in the median; 0 where there are no runs. */
    double taken(Subject subject, String mode) {
        List<Double> counts =
                runs(subject, mode).values().stream().map(run -> (double) checkpoints(run).size()).toList();
        return counts.isEmpty() ? 0 : Sample.of(counts).median();
    }

    /** Native runs of one name that were not of the same command are of different things, though one row has them. */
    Set<String> mixed() {
        Map<String, Set<String>> commands = new TreeMap<>();
        runs.stream().filter(run -> run.mode().equals(NATIVE)).forEach(run -> commands
                .computeIfAbsent(Subject.of(run).title(), _ -> new LinkedHashSet<>()).add(run.command()));
        return commands.entrySet().stream().filter(one -> one.getValue().size() > 1).map(Map.Entry::getKey)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Phases of a checkpoint, in order. */
    Map<String, Long> phases(Row.Checkpoint checkpoint) {
        Map<String, Long> times = new LinkedHashMap<>();
        phases.stream().filter(
                one -> one.trial().equals(checkpoint.trial()) && one.checkpoint().equals(checkpoint.checkpoint()))
                .forEach(one -> times.put(one.phase(), one.ns()));
        return times;
    }

    List<Row.Restart> restarts(Subject subject) {
        return restarts(subject, RESTARTED);
    }

    List<Row.Restart> peerRestarts(Subject subject) {
        return restarts(subject, PEER_RESTARTED);
    }

    private List<Row.Restart> restarts(Subject subject, String mode) {
        return runs(subject, mode).values().stream()
                .flatMap(run -> restarts.stream().filter(one -> one.trial().equals(run.trial()))).toList();
    }

    /** Checkpoints of correct runs that were restarted: each is a job's first, and so a full one. */
    List<Row.Checkpoint> wholeCheckpoints(Subject subject) {
        return runs(subject, RESTARTED).values().stream().flatMap(run -> checkpoints(run).stream()).toList();
    }

    /** All checkpoints by udckpt of right runs of a subject. */
    List<Row.Checkpoint> checkpoints(Subject subject) {
        return checkpoints(subject, false);
    }

    List<Row.Checkpoint> peerCheckpoints(Subject subject) {
        return checkpoints(subject, true);
    }

    private List<Row.Checkpoint> checkpoints(Subject subject, boolean isPeer) {
        return runs.stream()
                .filter(run -> run.right() && run.mode().startsWith(PEER) == isPeer && Subject.of(run).equals(subject))
                .flatMap(run -> checkpoints(run).stream()).toList();
    }
}
