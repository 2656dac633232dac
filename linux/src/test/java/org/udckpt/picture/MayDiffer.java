package org.udckpt.picture;

import java.util.regex.Pattern;

/**
 * A part of a {@link Picture} that may be another one after a restart.
 *
 * @param about  of which lines: what their subjects hold, a regular expression
 * @param part   what of their text; all of it where it is empty
 * @param reason why nobody is wronged
 */
public record MayDiffer(Pattern about, Pattern part, String reason) {
    public static MayDiffer line(String about, String reason) {
        return new MayDiffer(Pattern.compile(about), Pattern.compile(""), reason);
    }

    public static MayDiffer part(String about, String part, String reason) {
        return new MayDiffer(Pattern.compile(about), Pattern.compile(part), reason);
    }

    /** The text that is left to be compared; null: nothing. */
    String without(String subject, String said) {
        if (!about.matcher(subject).find()) {
            return said;
        }
        return part.pattern().isEmpty() ? null : part.matcher(said).replaceAll("");
    }
}
