package org.udckpt.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.measured.RowFile;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt bench report}. */
@Command(name = "report", mixinStandardHelpOptions = true, sortOptions = false,
        description = "Makes a page of what 'udckpt bench run' has measured: report.md with plots beside it (SVG), "
                + "and report.html with all in one file.")
public final class ReportCommand implements Callable<Integer> {
    @Parameters(arity = "1..*", paramLabel = "DIR|FILE", description = "directories of runs, or their results.arrow")
    private List<Path> inputs;
    @Option(names = "--output", paramLabel = "DIR",
            description = "where the page goes; default: beside the first results")
    private Path output;
    @Option(names = "--scale", paramLabel = "FILE",
            description = "what 'udckpt bench scale --results' has written; default: results/scale.csv of this clone")
    private Path scale;

    @Override
    public Integer call() throws IOException {
        List<Path> files = inputs.stream().map(ReportCommand::file).toList();
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < files.size(); i++) {
            rows.addAll(Renumbered.of(RowFile.read(files.get(i)), i));
        }
        Results results = new Results(rows);
        if (results.runs().isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND, "there are no runs in " + files);
        }
        if (!results.mixed().isEmpty()) {
            throw new Failure(ExitCode.USAGE,
                    "these were measured by different commands in different runs, which one page cannot compare: "
                            + String.join("; ", results.mixed())
                            + ". Make a page of each run");
        }
        Path directory =
                Files.createDirectories(output != null ? output : files.getFirst().toAbsolutePath().getParent());
        String title = "Benchmarks of udckpt";
        List<ReportSection> sections = sections(results);
        Files.write(directory.resolve("report.md"), MarkdownPage.of(title, sections));
        Files.writeString(directory.resolve("report.html"), HtmlPage.of(title, sections));
        for (ReportSection.Plot plot : sections.stream().flatMap(section -> section.plots().stream()).toList()) {
            Files.writeString(directory.resolve(plot.name() + ".svg"), plot.svg());
        }
        Messages.info("written: " + directory.resolve("report.md") + " and report.html");
        return ExitCode.DONE.value();
    }

    private static Path file(Path input) {
        Path file = Files.isDirectory(input) ? input.resolve(RowFile.NAME) : input;
        if (!Files.isRegularFile(file)) {
            throw new Failure(ExitCode.NOT_FOUND, "no results in " + input + ": " + file
                    + " is written at the end of 'udckpt bench run'; one that was interrupted goes on with --resume");
        }
        return file;
    }

    private List<ReportSection> sections(Results results) throws IOException {
        Stream<ReportSection> measured = Stream.of(OverheadSection.of(results), IntervalSection.of(results),
                CheckpointSection.of(results), StopSection.of(results), ModelSection.of(results),
                RestartSection.of(results), PeerSection.of(results), RatingSection.of(results));
        List<ReportSection> sections = new ArrayList<>(measured.filter(section -> !section.isEmpty()).toList());
        Path file = scale != null ? scale : Path.of(System.getProperty("udckpt.root"), "results/scale.csv");
        if (scale != null || Files.exists(file)) {
            sections.add(CoordinationSection.of(file));
        }
        sections.addAll(
                List.of(WrongSection.of(results), MachineSection.facts(results), MachineSection.commands(results)));
        return sections;
    }
}
