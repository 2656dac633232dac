package org.udckpt.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.udckpt.bench.measured.Row;

class ResultsTest {
    private static final Subject SUBJECT = new Subject("stencil", 2, "run", "ud");

    private static Row.Run run(String mode, int repeat, double seconds, boolean right) {
        return new Row.Run(mode + repeat, "stencil", 2, "run", "ud", mode, repeat, Math.round(seconds * 1e9), null,
                false, 0, right,
                right ? "fine" : "a & b differ", "it is <slow>", 1000, "cmd");
    }

    private static List<Row> rows() {
        List<Row> rows = new ArrayList<>(List.of(new Row.Fact("processors", "2")));
        double[] natives = {10, 20, 40};
        for (int repeat = 1; repeat <= 3; repeat++) {
            rows.add(run("native", repeat, natives[repeat - 1], true));
            rows.add(run("preloaded", repeat, natives[repeat - 1] * (1 + repeat / 100.0), true));
            rows.add(run("every 5s", repeat, natives[repeat - 1] * 1.5, repeat != 3));
            rows.add(new Row.Checkpoint("every 5s" + repeat, "ckpt-0001", 2L << 30, 1L << 30, 30_000_000, 20_000_000,
                    2_000_000_000));
            rows.add(new Row.Phase("every 5s" + repeat, "ckpt-0001", "snapshot", 25_000_000));
        }
        return rows;
    }

    @Test
    void overheadsAreThoseOfPairs() {
        Results results = new Results(rows());
        assertEquals(List.of(SUBJECT), List.copyOf(results.subjects()));
        assertEquals(List.of("preloaded", "every 5s"), List.copyOf(results.modes()));
        assertEquals("+2.00% (+1.00%..+3.00%, 3)",
                Words.spread(results.overheads(SUBJECT, "preloaded"), Words::percent));
        assertEquals("+50.00% (+50.00%..+50.00%, 2)",
                Words.spread(results.overheads(SUBJECT, "every 5s"), Words::percent), "the wrong one does not count");
        assertEquals(2, results.checkpoints(SUBJECT).size());
    }

    @Test
    void theOtherCheckpointerIsBesideOurs() {
        List<Row> rows = new ArrayList<>(rows());
        rows.add(run("native over tcp", 1, 10, true));
        rows.add(run("dmtcp", 1, 11, true));
        rows.add(run("dmtcp restarted", 1, 15, true));
        rows.add(new Row.Checkpoint("dmtcp restarted1", "dmtcp", 3L << 30, 3L << 30, 4_000_000_000L, 4_000_000_000L,
                4_000_000_000L));
        rows.add(new Row.Restart("dmtcp restarted1", "dmtcp", 500_000_000, 3L << 30));
        rows.add(run("restarted", 1, 15, true));
        rows.add(new Row.Checkpoint("restarted1", "ckpt-0001", 2L << 30, 1L << 30, 30_000_000, 20_000_000,
                2_000_000_000));
        rows.add(new Row.Restart("restarted1", "ckpt-0001", 700_000_000, 2L << 30));
        Results results = new Results(rows);
        assertEquals(List.of("preloaded", "every 5s", "dmtcp"), List.copyOf(results.modes()));
        assertEquals("+10.00% (+10.00%..+10.00%, 1)",
                Words.spread(results.overheads(SUBJECT, "dmtcp"), Words::percent));
        assertEquals(3, results.checkpoints(SUBJECT).size());
        assertEquals(1, results.restarts(SUBJECT).size());
        assertEquals(
                List.of("stencil, 2 ranks, run, ud", "DMTCP", "3072.0 (3072.0..3072.0, 1)", "4.00 (4.00..4.00, 1)",
                        "4.00 (4.00..4.00, 1)", "0.50 (0.50..0.50, 1)"),
                PeerSection.of(results).table().get(1));
        assertEquals(
                List.of("stencil, 2 ranks, run, ud", "udckpt", "1024.0 (1024.0..1024.0, 1)", "0.03 (0.03..0.03, 1)",
                        "2.03 (2.03..2.03, 1)", "0.70 (0.70..0.70, 1)"),
                PeerSection.of(results).table().get(2));
        assertTrue(PeerSection.of(new Results(rows())).isEmpty());
    }

    @Test
    void ofARateMoreIsBetter() {
        Row.Run before = new Row.Run("a", "hpcg", 2, "run", "ud", "native", 1, 1, "GFLOP/s", true, 2_000_000, true, "",
                null, 0, "");
        Row.Run after = new Row.Run("b", "hpcg", 2, "run", "ud", "preloaded", 1, 1, "GFLOP/s", true, 1_000_000, true,
                "", null, 0, "");
        Results results = new Results(List.of(before, after));
        assertEquals(List.of(1.0), results.overheads(Subject.of(before), "preloaded"));
        assertEquals(List.of(0.0), results.overheadsOfTime(Subject.of(before), "preloaded"), "both took as long");
        assertEquals("+100.00% (+100.00%..+100.00%, 1); by the clock +0.00%",
                OverheadSection.of(results).table().get(1).get(2));
        assertEquals(List.of(), new Results(rows()).overheadsOfTime(SUBJECT, "preloaded"),
                "no rating: it would be the same again");
    }

    @Test
    void runsOfOneNameAndTwoCommandsAreSaid() {
        List<Row> rows = new ArrayList<>(rows());
        assertTrue(new Results(rows).mixed().isEmpty());
        rows.add(new Row.Run("x", "stencil", 2, "run", "ud", "native", 9, 1, null, false, 0, true, "", null, 0,
                "cmd --larger"));
        assertEquals(List.of("stencil, 2 ranks, run, ud"), List.copyOf(new Results(rows).mixed()));
    }

    @Test
    void medians() {
        assertEquals(2, Sample.of(List.of(3.0, 1.0, 2.0)).median());
        assertEquals(2.5, Sample.of(List.of(4.0, 1.0, 2.0, 3.0)).median());
    }

    @Test
    void aWrongRunIsShownBesideTheNativeOne() {
        ReportSection wrong = WrongSection.of(new Results(rows()));
        assertEquals(List.of("stencil, 2 ranks, run, ud", "every 5s", "3", "a & b differ", "right: fine"),
                wrong.table().get(1));
        assertTrue(wrong.paragraphs().contains("Known without any checkpointer: stencil: it is <slow>."));
    }

    @Test
    void runsOfSeveralFilesAreNoPairs() {
        List<Row> both = new ArrayList<>(rows());
        both.addAll(Renumbered.of(rows(), 1));
        assertEquals(6, new Results(both).overheads(SUBJECT, "preloaded").size());
    }

    @Test
    void pagesHaveAllSectionsAndPlotsThatParse() throws Exception {
        Results results = new Results(rows());
        List<ReportSection> sections = List.of(OverheadSection.of(results), IntervalSection.of(results),
                CheckpointSection.of(results), StopSection.of(results), WrongSection.of(results),
                MachineSection.facts(results), MachineSection.commands(results));
        String html = HtmlPage.of("A & B", sections);
        String markdown = String.join("\n", MarkdownPage.of("A & B", sections));
        for (ReportSection section : sections) {
            assertTrue(html.contains("<h2>" + section.title() + "</h2>") && markdown.contains("## " + section.title()),
                    section.title());
            for (ReportSection.Plot plot : section.plots()) {
                DocumentBuilderFactory.newInstance().newDocumentBuilder()
                        .parse(new ByteArrayInputStream(plot.svg().getBytes(StandardCharsets.UTF_8)));
                assertTrue(markdown.contains("(" + plot.name() + ".svg)"));
            }
        }
        assertTrue(html.contains("a &amp; b differ") && html.contains("it is &lt;slow&gt;"));
        assertTrue(markdown.contains(
                "| stencil, 2 ranks, run, ud | 20.00 (10.00..40.00, 3) | +2.00% (+1.00%..+3.00%, 3) | +50.00% "
                        + "(+50.00%..+50.00%, 2) [1] |"),
                markdown);
    }
}
