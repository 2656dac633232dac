package org.udckpt.support.report;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A {@link Failure} as it travels from one node to another: its exit code before its words. */
public final class CodedText {
    private static final Pattern FORM = Pattern.compile("(\\d{1,3}) (.*)", Pattern.DOTALL);

    private CodedText() {}

    public static String of(Failure failure) {
        return failure.code().value() + " " + failure.getMessage();
    }

    /** What {@link #of} has made of it. @param where before its words. @param other the code of a text that has none */
    public static Failure parse(String where, String text, ExitCode other) {
        Matcher form = FORM.matcher(text);
        return form.matches() ? new Failure(ExitCode.of(Integer.parseInt(form.group(1))), where + form.group(2))
                : new Failure(other, where + text);
    }
}
