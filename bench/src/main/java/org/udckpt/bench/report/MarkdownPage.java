package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.List;

/** Sections as Markdown; plots are files beside it. */
final class MarkdownPage {
    private MarkdownPage() {}

    static List<String> of(String title, List<ReportSection> sections) {
        List<String> lines = new ArrayList<>(List.of("# " + title, ""));
        for (ReportSection section : sections) {
            lines.addAll(List.of("## " + section.title(), ""));
            section.paragraphs().forEach(paragraph -> lines.addAll(List.of(paragraph, "")));
            if (!section.table().isEmpty()) {
                lines.add(row(section.table().getFirst()));
                lines.add("|" + "---|".repeat(section.table().getFirst().size()));
                section.table().stream().skip(1).map(MarkdownPage::row).forEach(lines::add);
                lines.add("");
            }
            section.plots()
                    .forEach(plot -> lines.addAll(List.of("![" + section.title() + "](" + plot.name() + ".svg)", "")));
        }
        return lines;
    }

    private static String row(List<String> cells) {
        return "| " + String.join(" | ", cells.stream().map(cell -> cell.replace("|", "\\|")).toList()) + " |";
    }
}
