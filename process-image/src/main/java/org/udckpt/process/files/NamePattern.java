package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * One name of a {@link PathPattern}: {@code *}, {@code ?}, {@code [a-z]}, {@code [!a-z]}, a backslash before what is
 * itself. It is held against a name in at most the product of both lengths of steps, whatever the pattern is.
 */
final class NamePattern {
    /** What one character must be; null: any number of characters. */
    private final List<IntPredicate> parts;

    private NamePattern(List<IntPredicate> parts) {
        this.parts = parts;
    }

    /** @throws IllegalArgumentException when a range in brackets ends before it begins */
    static NamePattern of(String text) {
        int[] name = text.codePoints().toArray();
        List<IntPredicate> parts = new ArrayList<>();
        for (int i = 0; i < name.length; i++) {
            int c = name[i];
            int close = c == '[' ? indexOf(name, ']', i + 2) : -1;
            if (c == '\\' && i + 1 < name.length) {
                parts.add(itself(name[++i]));
            } else if (c == '*') {
                parts.add(null);
            } else if (c == '?') {
                parts.add(_ -> true);
            } else if (close > 0) {
                parts.add(set(name, i + 1, close));
                i = close;
            } else {
                parts.add(itself(c));
            }
        }
        return new NamePattern(parts);
    }

    private static int indexOf(int[] name, int wanted, int from) {
        for (int i = from; i < name.length; i++) {
            if (name[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    private static IntPredicate itself(int wanted) {
        return c -> c == wanted;
    }

    /** What stands between brackets at [start, end). */
    private static IntPredicate set(int[] name, int start, int end) {
        boolean not = name[start] == '!';
        IntPredicate any = _ -> false;
        for (int i = not ? start + 1 : start; i < end; i++) {
            boolean range = i + 2 < end && name[i + 1] == '-';
            int from = name[i];
            int to = range ? name[i + 2] : from;
            if (to < from) {
                throw new IllegalArgumentException("a range in its brackets ends before it begins");
            }
            any = any.or(c -> c >= from && c <= to);
            i += range ? 2 : 0;
        }
        return not ? any.negate() : any;
    }

    /** @param text a name, without '/' */
    boolean matches(String text) {
        int[] name = text.codePoints().toArray();
        int part = 0;
        int at = 0;
        int star = -1; // the last '*', and how far it goes
        int starEnd = 0;
        while (at < name.length) {
            if (part < parts.size() && parts.get(part) == null) {
                star = part++;
                starEnd = at;
            } else if (part < parts.size() && parts.get(part).test(name[at])) {
                part++;
                at++;
            } else if (star >= 0) {
                part = star + 1;
                at = ++starEnd;
            } else {
                return false;
            }
        }
        while (part < parts.size() && parts.get(part) == null) {
            part++;
        }
        return part == parts.size();
    }
}
