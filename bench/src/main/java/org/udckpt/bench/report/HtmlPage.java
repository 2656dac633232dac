package org.udckpt.bench.report;

import java.util.List;
import java.util.stream.Collectors;

/** Sections as one HTML file with its plots in it, readable without a network. */
final class HtmlPage {
    private static final String STYLE =
            "body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 "
                    + "1em}table{border-collapse:collapse;font-size:90%}"
                    + "td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}svg{max-width:100%}";

    private HtmlPage() {}

    static String of(String title, List<ReportSection> sections) {
        StringBuilder page = new StringBuilder(
                ("<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
                        + "charset=\"utf-8\"><title>%s</title><style>%s</style></head><body>\n<h1>%s</h1>\n")
                        .formatted(escaped(title), STYLE, escaped(title)));
        for (ReportSection section : sections) {
            page.append("<h2>").append(escaped(section.title())).append("</h2>\n");
            section.paragraphs().forEach(paragraph -> page.append("<p>").append(escaped(paragraph)).append("</p>\n"));
            if (!section.table().isEmpty()) {
                page.append("<table>\n").append(row("th", section.table().getFirst()));
                section.table().stream().skip(1).forEach(row -> page.append(row("td", row)));
                page.append("</table>\n");
            }
            section.plots().forEach(plot -> page.append(plot.svg()));
        }
        return page.append("</body></html>\n").toString();
    }

    private static String row(String tag, List<String> cells) {
        return cells.stream().map(cell -> "<%s>%s</%s>".formatted(tag, escaped(cell), tag))
                .collect(Collectors.joining("", "<tr>", "</tr>\n"));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
