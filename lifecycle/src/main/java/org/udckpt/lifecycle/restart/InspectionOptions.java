package org.udckpt.lifecycle.restart;

import java.io.File;
import java.nio.file.Path;
import org.udckpt.inspect.debug.ControllingTerminal;
import org.udckpt.inspect.debug.Debugger;

/**
 * Who restarts a job in order to look at it, and not that it goes on.
 *
 * @param debugger has processes of it from the first instruction on; null: nobody has
 * @param trial nothing outside of the job is to change by it: null, or a directory for what it prints, for the files
 *     that it changes, and for checkpoints that somebody takes of it
 */
public record InspectionOptions(Debugger debugger, Path trial) {
    private static final File NOTHING = new File("/dev/null");

    /** Nobody looks: the job goes on. */
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
