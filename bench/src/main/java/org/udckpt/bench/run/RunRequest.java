package org.udckpt.bench.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.bench.job.Cell;
import org.udckpt.bench.job.Launcher;
import org.udckpt.bench.job.UcxTransport;
import org.udckpt.bench.workload.Workload;
import org.udckpt.bench.workload.Workloads;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * What was asked to be run.
 *
 * @param names of workloads; none: the default suite
 * @param isQuick leaves out of the default suite what takes long
 * @param launchers none: of each workload the first for which there is a build
 * @param ranks none: as each description says
 */
record RunRequest(List<String> names, boolean isQuick, List<Launcher> launchers, List<UcxTransport> transports,
        List<Integer> ranks) {

    /**
     * @throws Failure when a workload that was named cannot be run, with what to do; of the default suite what is not
     *     installed is left out
     */
    List<Cell> cells(Workloads workloads) throws IOException {
        List<Cell> cells = new ArrayList<>();
        List<Workload> suite = workloads.suite().stream().filter(workload -> !isQuick || !workload.isLong()).toList();
        for (Workload workload : names.isEmpty() ? suite : workloads.named(names)) {
            cells.addAll(cells(workload));
        }
        if (cells.isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND, "no application of the default suite is installed: see above");
        }
        return cells;
    }

    private List<Cell> cells(Workload workload) {
        List<Cell> cells = new ArrayList<>();
        for (Launcher launcher : launchers(workload)) {
            for (UcxTransport transport : transports.stream()
                    .filter(one -> workload.transports().contains(one.word())).toList()) {
                for (int count : ranks.isEmpty() ? List.of(workload.ranks()) : ranks) {
                    cells.add(checked(new Cell(workload, launcher, transport, count)));
                }
            }
        }
        List<Cell> installed = cells.stream().filter(Cell::isInstalled).toList();
        if (installed.size() < cells.size()) {
            Cell missing = cells.stream().filter(cell -> !cell.isInstalled()).findFirst().orElseThrow();
            if (!names.isEmpty()) {
                throw new Failure(ExitCode.NOT_FOUND, missing.remedy());
            }
            Messages.info("left out: " + missing.remedy());
        }
        return installed;
    }

    private static Cell checked(Cell cell) {
        if (!cell.workload().allowedRanks().hold(cell.ranks())) {
            throw new Failure(ExitCode.USAGE, cell.workload().name() + " runs with " + cell.workload().allowedRanks()
                    + " ranks, not with " + cell.ranks());
        }
        return cell;
    }

    private List<Launcher> launchers(Workload workload) {
        List<Launcher> fitting = (launchers.isEmpty() ? List.of(Launcher.RUN, Launcher.MPIRUN) : launchers).stream()
                .filter(launcher -> workload.builds().containsKey(launcher.mpi())).toList();
        if (fitting.isEmpty() && !names.isEmpty()) {
            throw new Failure(ExitCode.USAGE,
                    workload.name() + ": no build for these launchers: see the sections of bench/workloads/"
                            + workload.directory().getFileName() + "/workload");
        }
        return launchers.isEmpty() ? fitting.subList(0, 1) : fitting;
    }

    /** What the workloads are, those that were named or all: lines for a person. */
    List<String> describe(Workloads workloads) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Workload workload : workloads.named(names.isEmpty() ? workloads.names() : names)) {
            List<Launcher> fitting = launchers(workload);
            if (fitting.isEmpty()) {
                continue; // of all: a launcher was named for which it has no build
            }
            Cell cell = new Cell(workload, fitting.getFirst(), transports.getFirst(), workload.ranks());
            lines.add(workload.name() + ": " + workload.title() + "; " + workload.ranks() + " ranks (possible: "
                    + workload.allowedRanks() + ")" + (workload.isLong() ? "; long" : ""));
            lines.add("    " + String.join(" ", cell.build().command()));
            lines.add("    " + (cell.isInstalled() ? "is here" : cell.remedy().replace("\n", "\n    ")));
        }
        return lines;
    }

    /**
     * Places that {@code --path} gives, over those of the environment.
     *
     * @param paths VARIABLE=PATH, or PATH alone for the one workload that needs one
     */
    Map<String, String> places(List<String> paths, Workloads workloads) throws IOException {
        Map<String, String> places = new LinkedHashMap<>(System.getenv());
        for (String path : paths) {
            int equals = path.indexOf('=');
            if (equals > 0) {
                places.put(path.substring(0, equals), path.substring(equals + 1));
            } else {
                places.put(onlyVariable(path, workloads), path);
            }
        }
        return places;
    }

    private String onlyVariable(String path, Workloads workloads) throws IOException {
        List<String> variables = workloads.named(names).stream().flatMap(one -> one.supply().brought().stream())
                .map(one -> one.variable()).distinct().toList();
        if (variables.size() != 1) {
            throw new Failure(ExitCode.USAGE,
                    "--path " + path + ": the workloads that are named need "
                            + (variables.isEmpty() ? "no path" : String.join(" and ", variables))
                            + "; write --path VARIABLE=PATH");
        }
        return variables.getFirst();
    }
}
