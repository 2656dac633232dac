package org.udckpt.bench.plot;

import java.util.ArrayList;
import java.util.List;

/** Lines over one axis, with marks where a value is known. */
public final class LinePlot {
    private static final int WIDTH = 980, HEIGHT = 520, LEFT = 90, RIGHT = 370, TOP = 50, BOTTOM = 60;
    private static final String[] DASHES = {"", "7 4", "2 3", "9 3 2 3"};

    private record Line(String name, double[] x, double[] y, boolean joined) {}

    private final String title;
    private final Axis horizontal;
    private final Axis vertical;
    private final List<Line> lines = new ArrayList<>();

    public LinePlot(String title, Axis horizontal, Axis vertical) {
        this.title = title;
        this.horizontal = horizontal;
        this.vertical = vertical;
    }

    /** Joined in their order; what lies outside of the axes is left out. */
    public LinePlot line(String name, double[] x, double[] y) {
        lines.add(new Line(name, x, y, true));
        return this;
    }

    /** Single values, such as measured ones. */
    public LinePlot points(String name, double[] x, double[] y) {
        lines.add(new Line(name, x, y, false));
        return this;
    }

    /** The plot as a file of its own. */
    public String svg() {
        Canvas svg = new Canvas(WIDTH, HEIGHT);
        svg.text(LEFT, TOP - 22, "start", title, "font-size=\"16\"");
        grid(svg);
        for (int i = 0; i < lines.size(); i++) {
            draw(svg, lines.get(i), Canvas.colour(i), Canvas.shape(i), DASHES[i % DASHES.length], TOP + 8 + 22 * i);
        }
        return svg.end();
    }

    private void grid(Canvas svg) {
        for (double tick : horizontal.ticks()) {
            svg.line(x(tick), TOP, x(tick), HEIGHT - BOTTOM);
            svg.text(x(tick), HEIGHT - BOTTOM + 18, "middle", horizontal.label().apply(tick), "");
        }
        for (double tick : vertical.ticks()) {
            svg.line(LEFT, y(tick), WIDTH - RIGHT, y(tick));
            svg.text(LEFT - 8, y(tick) + 4, "end", vertical.label().apply(tick), "");
        }
        svg.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, "middle", horizontal.title(), "");
        svg.text(0, 0, "middle", vertical.title(),
                "transform=\"translate(18 %d) rotate(-90)\"".formatted((TOP + HEIGHT - BOTTOM) / 2));
    }

    private void draw(Canvas svg, Line line, String colour, Canvas.Shape shape, String dashes, int legend) {
        StringBuilder path = new StringBuilder();
        boolean inside = false;
        for (int i = 0; i < line.x.length; i++) {
            if (!horizontal.holds(line.x[i]) || !vertical.holds(line.y[i])) {
                inside = false;
                continue;
            }
            if (line.joined) {
                path.append(inside ? "L" : "M").append(Canvas.number(x(line.x[i]))).append(' ')
                        .append(Canvas.number(y(line.y[i])));
                inside = true;
            } else {
                svg.mark(x(line.x[i]), y(line.y[i]), colour, shape);
            }
        }
        if (!path.isEmpty()) {
            svg.path(path.toString(), colour, dashes);
        }
        int at = WIDTH - RIGHT + 16;
        if (line.joined) {
            svg.path("M%d %dh28".formatted(at, legend), colour, dashes);
        } else {
            svg.mark(at + 14, legend, colour, shape);
        }
        svg.text(at + 36, legend + 4, "start", line.name, "");
    }

    private double x(double value) {
        return LEFT + horizontal.place(value) * (WIDTH - LEFT - RIGHT);
    }

    private double y(double value) {
        return HEIGHT - BOTTOM - vertical.place(value) * (HEIGHT - TOP - BOTTOM);
    }
}
