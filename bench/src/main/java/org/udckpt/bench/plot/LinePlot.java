package org.udckpt.bench.plot;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lines over one axis, with marks where a value is known. */
public final class LinePlot {
    private static final int WIDTH = 860, HEIGHT = 520, LEFT = 90, RIGHT = 250, TOP = 50, BOTTOM = 60;
    /** Told apart also by those who do not see all colours (Okabe and Ito), and by their dashes. */
    private static final String[] COLOURS = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
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
        StringBuilder svg = new StringBuilder(("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">%n"
                + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n").formatted(WIDTH, HEIGHT));
        text(svg, LEFT, TOP - 22, "start", title, "font-size=\"16\"");
        grid(svg);
        for (int i = 0; i < lines.size(); i++) {
            draw(svg, lines.get(i), COLOURS[i % COLOURS.length], DASHES[i % DASHES.length], TOP + 8 + 22 * i);
        }
        return svg.append("</svg>\n").toString();
    }

    private void grid(StringBuilder svg) {
        for (double tick : horizontal.ticks()) {
            stroke(svg, x(tick), TOP, x(tick), HEIGHT - BOTTOM);
            text(svg, x(tick), HEIGHT - BOTTOM + 18, "middle", horizontal.label().apply(tick), "");
        }
        for (double tick : vertical.ticks()) {
            stroke(svg, LEFT, y(tick), WIDTH - RIGHT, y(tick));
            text(svg, LEFT - 8, y(tick) + 4, "end", vertical.label().apply(tick), "");
        }
        text(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, "middle", horizontal.title(), "");
        text(svg, 0, 0, "middle", vertical.title(), "transform=\"translate(18 %d) rotate(-90)\"".formatted((TOP + HEIGHT - BOTTOM) / 2));
    }

    private void draw(StringBuilder svg, Line line, String colour, String dashes, int legend) {
        StringBuilder path = new StringBuilder();
        boolean inside = false;
        for (int i = 0; i < line.x.length; i++) {
            if (!horizontal.holds(line.x[i]) || !vertical.holds(line.y[i])) {
                inside = false;
                continue;
            }
            if (line.joined) {
                path.append(inside ? "L" : "M").append(number(x(line.x[i]))).append(' ').append(number(y(line.y[i])));
                inside = true;
            } else {
                mark(svg, x(line.x[i]), y(line.y[i]), colour);
            }
        }
        if (!path.isEmpty()) {
            svg.append("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>%n".formatted(path, colour, dashes));
        }
        int at = WIDTH - RIGHT + 16;
        if (line.joined) {
            svg.append("<path d=\"M%d %dh28\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>%n".formatted(at, legend, colour, dashes));
        } else {
            mark(svg, at + 14, legend, colour);
        }
        text(svg, at + 36, legend + 4, "start", line.name, "");
    }

    private static void mark(StringBuilder svg, double x, double y, String colour) {
        svg.append("<circle cx=\"%s\" cy=\"%s\" r=\"4.5\" fill=\"%s\"/>%n".formatted(number(x), number(y), colour));
    }

    private static void stroke(StringBuilder svg, double x1, double y1, double x2, double y2) {
        svg.append("<path d=\"M%s %sL%s %s\" stroke=\"#ddd\"/>%n".formatted(number(x1), number(y1), number(x2), number(y2)));
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String text, String more) {
        svg.append("<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" %s>%s</text>%n".formatted(number(x), number(y), anchor, more,
                text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")));
    }

    private double x(double value) {
        return LEFT + horizontal.place(value) * (WIDTH - LEFT - RIGHT);
    }

    private double y(double value) {
        return HEIGHT - BOTTOM - vertical.place(value) * (HEIGHT - TOP - BOTTOM);
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
