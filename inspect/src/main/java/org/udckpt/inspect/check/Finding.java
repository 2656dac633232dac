package org.udckpt.inspect.check;

/**
 * One thing that was looked at.
 *
 * @param found what is there
 * @param advice what to do about it, or empty
 */
public record Finding(String what, State state, String found, String advice) {
    /** OK; NOTE: works, but know this; MISSING: jobs would fail. */
    public enum State {
        OK,
        NOTE,
        MISSING
    }

    static Finding ok(String what, String found) {
        return new Finding(what, State.OK, found, "");
    }
}
