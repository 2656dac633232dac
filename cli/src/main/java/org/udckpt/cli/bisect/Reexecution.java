package org.udckpt.cli.bisect;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.udckpt.agent.Job;
import org.udckpt.inspect.debug.Debugger;
import org.udckpt.inspect.debug.GdbCommand;
import org.udckpt.inspect.debug.Selection;
import org.udckpt.lifecycle.restart.InspectionOptions;
import org.udckpt.lifecycle.restart.Restart;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.ImageLocation;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Lets the job run again from a checkpoint until something is true: for itself, on addresses of its own, without a
 * trace in its files.
 */
public final class Reexecution {
    private static final int NAME_MOST = 50;

    private final Settings settings;
    private final Question question;
    private final List<String> gdb;
    private final WorkDirectory work;

    public Reexecution(Settings settings, Question question, List<String> gdb, WorkDirectory work) {
        this.settings = settings.flag(Option.INTERVAL, "0").flag(Option.MTBF, "0").flag(Option.TIERS, "")
                .flag(Option.KEEP, "0");
        this.question = question;
        this.gdb = gdb;
        this.work = work;
    }

    /**
     * Gives gdb to the person at the terminal when it is true; returns when that person has ended gdb. The job ends
     * with it.
     */
    public void interactively(ImageLocation from, String jobName) {
        run(from, jobName, new GdbCommand(gdb, question.inProcess(false), true, null), null);
    }

    /**
     * What there is to see when it is true; null: it was not, and {@code said} has all that gdb said.
     *
     * @param limit null: none
     */
    public String alone(ImageLocation from, String jobName, Duration limit, StringBuilder said) {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        run(from, jobName, new GdbCommand(gdb, question.inProcess(true), false, output), limit);
        String text = output.toString(StandardCharsets.UTF_8);
        said.append(text);
        return text.contains(Question.STOPPED) ? report(text) : null;
    }

    /** From the last time that gdb let it run: why it stopped, where, and with what. */
    static String report(String text) {
        String last = text.substring(text.lastIndexOf(Question.RUNNING) + Question.RUNNING.length());
        return last.replace(Question.STOPPED + "\n", "").replaceAll("(?m)^\\[Inferior 1 .*detached\\]\\n?", "").strip()
                + "\n";
    }

    /** Whether the function returned to whose variables the watchpoint belonged. */
    public static boolean leftFrame(String said) {
        return said.contains("has left the block in");
    }

    /** Whether gdb found no hardware watchpoint for the expression: the processor has four, of eight bytes each. */
    public static boolean singleStepped(String said) {
        return said.lines().anyMatch(line -> line.startsWith("Watchpoint "));
    }

    private void run(ImageLocation from, String jobName, GdbCommand command, Duration limit) {
        Selection process = question.process().pid() == null ? Selection.rank(question.process().rank())
                : Selection.pid(question.process().pid());
        Debugger debugger = new Debugger(process, command, limit);
        try (Job _ = Restart.start(settings, Installation.find(settings), from, name(jobName), null, Relocation.NONE,
                new InspectionOptions(debugger, work.trial()))) {
            debugger.await(); // when it has ended, the job is of no use
            if (debugger.expired()) {
                throw new Failure(ExitCode.TIMEOUT, "gdb did not see the expression become true within "
                        + limit.toSeconds() + " s of running again from " + from.entry().name() + ", and was stopped");
            }
        } catch (IOException e) {
            throw Failure.of("running the job again from " + from.entry().name(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of("running the job again from " + from.entry().name(), e);
        }
    }

    /** Beside the job itself, which may be running. */
    private static String name(String jobName) {
        return jobName.substring(0, Math.min(NAME_MOST, jobName.length())) + "-bisect";
    }
}
