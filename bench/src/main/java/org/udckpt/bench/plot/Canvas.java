package org.udckpt.bench.plot;

import java.util.Locale;

/** An SVG file that grows. Lengths are in pixels, from the upper left. */
final class Canvas {
    /** Told apart also by those who do not see all colours (Okabe and Ito). */
    private static final String[] COLOURS =
            {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
    private final StringBuilder svg;

    Canvas(int width, int height) {
        svg = new StringBuilder(
                ("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
                        + "font-size=\"13\">%n"
                        + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n").formatted(width, height));
    }

    /** Of the i-th thing that is drawn. */
    static String colour(int i) {
        return COLOURS[i % COLOURS.length];
    }

    /** Of a mark: where colours come again, they have another. */
    enum Shape {
        CIRCLE, SQUARE, TRIANGLE, DIAMOND
    }

    /** Of the i-th thing that is drawn. */
    static Shape shape(int i) {
        return Shape.values()[i / COLOURS.length % Shape.values().length];
    }

    void mark(double x, double y, String colour, Shape shape) {
        String path = switch (shape) {
            case CIRCLE -> "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0";
            case SQUARE -> "m-4 -4h8v8h-8z";
            case TRIANGLE -> "m0 -5l5 9h-10z";
            case DIAMOND -> "m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z";
        };
        svg.append("<path d=\"M%s %s%s\" fill=\"%s\"/>%n".formatted(number(x), number(y), path, colour));
    }

    /** A line of a grid. */
    void line(double x1, double y1, double x2, double y2) {
        svg.append("<path d=\"M%s %sL%s %s\" stroke=\"#ddd\"/>%n".formatted(number(x1), number(y1), number(x2),
                number(y2)));
    }

    void path(String path, String colour, String dashes) {
        svg.append("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>%n"
                .formatted(path, colour, dashes));
    }

    void bar(double x, double y, double width, double height, String colour) {
        svg.append("<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"%s\"/>%n".formatted(number(x), number(y),
                number(width), number(height), colour));
    }

    /** @param anchor start, middle or end */
    void text(double x, double y, String anchor, String text, String more) {
        svg.append("<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" %s>%s</text>%n".formatted(number(x), number(y), anchor,
                more,
                text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")));
    }

    /** The file's text. */
    String end() {
        return svg.append("</svg>\n").toString();
    }

    static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
