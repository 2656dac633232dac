package org.udckpt.inspect.debug;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.udckpt.process.model.ProcessState;
import org.udckpt.store.ImageProcesses;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Which processes a debugger is to have: {@code 0,3,pid:4711} of the command line, each a rank (its process with the
 * verbs device, else its first) or a pid as the image has it.
 *
 * @param words at least one
 */
public record Selection(List<String> words) {
    private static final String PID = "pid:";
    private static final Pattern FORM = Pattern.compile("(\\d{1,9}|pid:\\d{1,9})(,(\\d{1,9}|pid:\\d{1,9}))*");

    /** Whether a word of the command line can be one. */
    public static boolean matches(String text) {
        return FORM.matcher(text).matches();
    }

    public static Selection parse(String text) {
        if (!matches(text)) {
            throw new Failure(ExitCode.USAGE, "'" + text + "' is not a list of processes: give ranks and pids of the "
                    + "checkpoint, as in 0,3,pid:4711");
        }
        return new Selection(Arrays.asList(text.split(",")));
    }

    /** The process of a rank. */
    public static Selection rank(int rank) {
        return new Selection(List.of(Integer.toString(rank)));
    }

    /** One process, by its pid in the checkpoint. */
    public static Selection pid(int pid) {
        return new Selection(List.of(PID + pid));
    }

    /** In the order of the words, none twice; 66 naming what there is. */
    public List<ProcessState> of(ImageProcesses processes) {
        Set<ProcessState> found = new LinkedHashSet<>();
        for (String word : words) {
            found.add(word.startsWith(PID) ? processes.one(null, number(word.substring(PID.length())))
                    : processes.one(number(word), null));
        }
        return List.copyOf(found);
    }

    /** The ranks among the words, in their order. */
    public List<Integer> ranks() {
        return words.stream().filter(word -> !word.startsWith(PID)).map(Selection::number).toList();
    }

    private static int number(String digits) {
        return Integer.parseInt(digits);
    }

    @Override
    public String toString() {
        return String.join(",", words);
    }
}
