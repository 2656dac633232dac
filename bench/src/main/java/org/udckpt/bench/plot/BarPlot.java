package org.udckpt.bench.plot;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;

/** Horizontal bars: of each row one bar for each series, side by side with its spread, or one behind the other. */
public final class BarPlot {
    private static final int WIDTH = 860, LEFT = 270, RIGHT = 190, TOP = 50, BOTTOM = 56, THICK = 14, GAP = 12;

    /**
     * A bar.
     *
     * @param low  end of the spread
     * @param high other end; the same as {@code low}: none is drawn
     */
    public record Bar(double value, double low, double high) {
        public static Bar of(double value) {
            return new Bar(value, value, value);
        }
    }

    /** @param bars of the series, in order; null: not measured */
    private record Row(String name, List<Bar> bars) {}

    private final String title;
    private final String unit;
    private final boolean stacked;
    private final List<String> series;
    private final DoubleFunction<String> label;
    private final List<Row> rows = new ArrayList<>();
    private final Map<String, Double> references = new LinkedHashMap<>();

    /**
     * @param unit    title of the axis
     * @param stacked one bar behind the other, which has to be above 0
     * @param series  their names
     * @param label   what is written at a value
     */
    public BarPlot(String title, String unit, boolean stacked, List<String> series, DoubleFunction<String> label) {
        this.title = title;
        this.unit = unit;
        this.stacked = stacked;
        this.series = series;
        this.label = label;
    }

    /** @param bars as many as there are series; null: not measured */
    public BarPlot row(String name, List<Bar> bars) {
        rows.add(new Row(name, new ArrayList<>(bars)));
        return this;
    }

    /** A value to compare all bars with: a line across them, if the axis reaches it. */
    public BarPlot reference(String name, double value) {
        references.put(name, value);
        return this;
    }

    public String svg() {
        int rowHeight = (stacked ? 1 : series.size()) * THICK + GAP;
        int height = TOP + rows.size() * rowHeight + BOTTOM;
        Canvas canvas = new Canvas(WIDTH, Math.max(height, TOP + 22 * series.size() + BOTTOM));
        canvas.text(20, TOP - 22, "start", title, "font-size=\"16\"");
        Axis axis = axis();
        for (double tick : axis.ticks()) {
            canvas.line(x(axis, tick), TOP, x(axis, tick), height - BOTTOM);
            canvas.text(x(axis, tick), height - BOTTOM + 18, "middle", label.apply(tick), "");
        }
        canvas.path("M%s %dV%d".formatted(Canvas.number(x(axis, 0)), TOP, height - BOTTOM), "#888", "");
        canvas.text((LEFT + WIDTH - RIGHT) / 2.0, height - 14, "middle", unit, "");
        for (int i = 0; i < rows.size(); i++) {
            draw(canvas, axis, rows.get(i), TOP + GAP / 2 + i * rowHeight);
        }
        references.forEach((name, value) -> {
            if (axis.holds(value)) {
                canvas.path("M%s %dV%d".formatted(Canvas.number(x(axis, value)), TOP, height - BOTTOM), "#000", "2 3");
                canvas.text(x(axis, value), TOP - 4, "middle", name, "");
            }
        });
        for (int i = 0; i < series.size(); i++) {
            canvas.bar(WIDTH - RIGHT + 16, TOP + 22 * i, THICK, THICK, Canvas.colour(i));
            canvas.text(WIDTH - RIGHT + 36, TOP + 22 * i + 12, "start", series.get(i), "");
        }
        return canvas.end();
    }

    /**
     * All bars, and of their spreads as much as they are wide in all: one that is wider leaves the plot, so that it
     * hides nobody else.
     */
    private Axis axis() {
        double low = 0;
        double high = 0;
        double lowest = 0;
        double highest = 0;
        for (Row row : rows) {
            List<Bar> bars = row.bars.stream().filter(bar -> bar != null).toList();
            for (Bar bar : stacked ? List.of(Bar.of(bars.stream().mapToDouble(Bar::value).sum())) : bars) {
                low = Math.min(low, bar.value);
                high = Math.max(high, bar.value);
                lowest = Math.min(lowest, bar.low);
                highest = Math.max(highest, bar.high);
            }
        }
        double room = high - low;
        low = Math.max(lowest, low - room);
        high = Math.min(highest, high + room);
        return new Axis(unit, false, low, high > low ? high : low + 1, label);
    }

    private void draw(Canvas canvas, Axis axis, Row row, double top) {
        double middle = top + (stacked ? 1 : series.size()) * THICK / 2.0;
        canvas.text(LEFT - 8, middle + 4, "end", row.name, "");
        double from = 0;
        for (int i = 0; i < row.bars.size(); i++) {
            Bar bar = row.bars.get(i);
            double y = stacked ? top : top + i * THICK;
            if (bar != null) {
                double left = x(axis, Math.min(from, from + bar.value));
                canvas.bar(left, y + 1, Math.max(x(axis, Math.max(from, from + bar.value)) - left, 0.5), THICK - 2,
                        Canvas.colour(i));
                if (bar.low < bar.high) {
                    canvas.path("M%s %sH%s".formatted(Canvas.number(x(axis, Math.max(bar.low, axis.low()))),
                            Canvas.number(y + THICK / 2.0),
                            Canvas.number(x(axis, Math.min(bar.high, axis.high())))), "#444", "");
                }
                from = stacked ? from + bar.value : 0;
            }
        }
    }

    private static double x(Axis axis, double value) {
        return LEFT + axis.place(value) * (WIDTH - LEFT - RIGHT);
    }
}
