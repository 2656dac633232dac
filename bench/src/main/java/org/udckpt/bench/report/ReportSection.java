package org.udckpt.bench.report;

import java.util.List;

/**
 * A part of a page.
 *
 * @param paragraphs plain text
 * @param table header and rows of cells; none: no table
 * @param plots after it
 */
record ReportSection(String title, List<String> paragraphs, List<List<String>> table, List<Plot> plots) {

    /** @param name of its file, without .svg */
    record Plot(String name, String svg) {}

    static ReportSection table(String title, String paragraph, List<List<String>> table, Plot... plots) {
        return new ReportSection(title, List.of(paragraph), table, List.of(plots));
    }

    boolean isEmpty() {
        return table.isEmpty() ? plots.isEmpty() : table.size() < 2;
    }
}
