package org.udckpt.lifecycle.restart;

import java.io.File;
import java.nio.file.Path;
import org.udckpt.inspect.debug.ControllingTerminal;
import org.udckpt.inspect.debug.Debugger;

/**
 * Options of a restart for inspection (debugger, trial run) rather than continuation.
 *
 * @param debugger attaches to processes before their first instruction; null: none
 * @param trial directory of a trial run, which changes nothing outside of it: for its output, the files that it
 *     changes, and checkpoints that are taken of it; null: no trial
 */
public record InspectionOptions(Debugger debugger, Path trial) {
    private static final File NOTHING = new File("/dev/null");

    /** No inspection: the job continues. */
    public static final InspectionOptions NONE = new InspectionOptions(null, null);

    /** A debugger stops processes for as long as its user thinks: nothing that they have to answer may time out. */
    boolean patient() {
        return debugger != null;
    }

    /**
     * The job does without the terminal as its standard input where a person's debugger reads from there; a trial is to
     * be neither heard nor fed.
     */
    ProcessBuilder streams(ProcessBuilder shepherd) {
        if (trial != null) {
            File output = trial.resolve("output").toFile();
            shepherd.redirectOutput(ProcessBuilder.Redirect.appendTo(output))
                    .redirectError(ProcessBuilder.Redirect.appendTo(output));
        }
        return trial != null || debugger != null && debugger.interactive() && ControllingTerminal.isInput()
                ? shepherd.redirectInput(NOTHING) : shepherd;
    }
}
