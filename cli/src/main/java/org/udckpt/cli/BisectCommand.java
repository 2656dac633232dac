package org.udckpt.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.udckpt.cli.bisect.CoreProbe;
import org.udckpt.cli.bisect.ProbeResult;
import org.udckpt.cli.bisect.Question;
import org.udckpt.cli.bisect.Reexecution;
import org.udckpt.cli.bisect.Search;
import org.udckpt.cli.bisect.WorkDirectory;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.inspect.debug.GdbCommand;
import org.udckpt.launch.DeviceChoice;
import org.udckpt.linux.Watchpoints;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.JobRow;
import org.udckpt.store.ProcessChoice;
import org.udckpt.store.StateTables;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.StandardError;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code udckpt bisect}: the first checkpoint of a run in which an expression is true, and the statement that made it
 * so.
 */
@Command(name = "bisect", description = "Find the first checkpoint in which a gdb expression is true, then run the "
        + "job again from the checkpoint before it to the statement that makes the expression true.")
final class BisectCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Mixin
    private KeyOption encrypted;

    @Option(names = "--rank", paramLabel = "R", description = "the rank in which the expression is evaluated: its "
            + "process with the verbs device, else its first process")
    private Integer rank;

    @Option(names = "--pid", paramLabel = "P", description = "the process with this pid in the job ('inspect' lists "
            + "them); with --rank, a process of that rank")
    private Integer pid;

    @Option(names = "--node", paramLabel = "N", description = "with --pid, in checkpoints of several nodes: the node "
            + "of the process ('inspect' numbers them)")
    private Integer node;

    @Option(names = "--when", required = true, paramLabel = "EXPRESSION", description = "the expression, in gdb's "
            + "syntax; any value but zero is true")
    private String expression;

    @Option(names = "--frame", paramLabel = "FUNCTION", description = "evaluate the expression in the frame of this "
            + "function, which is searched on the stacks")
    private String frame;

    @Option(names = "--at", paramLabel = "PLACE", description = "evaluate the expression at this function or "
            + "FILE:LINE when the job runs again; default: a watchpoint, which stops where the value changes")
    private String place;

    @Option(names = "--every", description = "search all checkpoints from the oldest on, for an expression that can "
            + "become false again")
    private boolean every;

    @Option(names = "--search-only", description = "do not run the job again")
    private boolean searchOnly;

    @Option(names = "--batch", description = "print where the expression became true, and exit; default: gdb stays "
            + "open on the terminal")
    private boolean batch;

    @Option(names = "--limit", paramLabel = "DURATION", description = "with --batch: stop the second run after this "
            + "time, e.g. 10m; default: when the job ends")
    private String limit;

    @Option(names = "--gdb", paramLabel = "COMMAND", description = "the debugger command, with its options; default: "
            + "gdb")
    private String gdb;

    @Option(names = "--device", description = "verbs device of the second run: soft, auto, or device names")
    private String device;

    @Option(names = "--work", paramLabel = "DIR", description = "directory for core files (one at a time) and for "
            + "the files that the second run writes; default: the system's directory for temporary files")
    private Path work;

    @Option(names = "--json", description = "print JSON, schema 1; implies --batch")
    private boolean json;

    @Parameters(paramLabel = "DIR", description = "the job's checkpoint directory, or its tiers fast=DIR,slow=DIR")
    private String directory;

    @Override
    public Integer call() throws IOException {
        Settings settings = common.settings().flag(org.udckpt.support.config.Option.DEVICE, device);
        ImageKey key = encrypted.key(settings);
        boolean alone = batch || json;
        if (limit != null && !alone) {
            throw new Failure(ExitCode.USAGE, "--limit needs --batch: without it, you end gdb yourself");
        }
        Duration timeout = limit == null ? null : Settings.duration(limit, "--limit");
        List<String> debugger = DebugOptions.words(gdb);
        // it and a terminal are there, before the search
        new GdbCommand(debugger, List.of(), !alone && !searchOnly, null);
        DeviceChoice.resolve(settings);
        if (rank == null && pid == null) {
            throw new Failure(ExitCode.USAGE,
                    "bisect: name a rank (--rank R) or a process (--pid P); 'udckpt inspect' lists them");
        }
        if (expression.isBlank()) {
            throw new Failure(ExitCode.USAGE, "--when: the expression is empty");
        }
        Question question = new Question(new ProcessChoice(rank, pid, node), expression, frame, place);
        List<Catalogue.Entry> entries = usable(key);
        refuseSeveral(entries);
        try (WorkDirectory directory = WorkDirectory.in(work)) {
            CoreProbe probe = new CoreProbe(question, key, debugger, directory.path());
            Search search = new Search(entries.size(), number -> ask(probe, entries.get(number)));
            Search.Found found = every ? search.every() : search.byHalves();
            refuse(found, entries);
            Catalogue.Entry first = entries.get(found.firstTrue());
            Catalogue.Entry before = found.firstTrue() == 0 ? null
                    : entries.get(found.lastFalse() >= 0 ? found.lastFalse() : found.firstTrue() - 1);
            tell(found, first, before);
            String report = null;
            if (!searchOnly) {
                report = again(settings, question, debugger, directory, before, first, key, alone, timeout);
            }
            if (json) {
                JsonOutput.print(describe(found, entries, first, before, report));
            } else if (report != null) {
                System.out.print(report);
            }
        }
        return ExitCode.DONE.value();
    }

    private List<Catalogue.Entry> usable(ImageKey key) {
        List<Catalogue.Entry> usable = new ArrayList<>();
        for (Catalogue.Entry entry : entries(key)) {
            switch (entry.state()) {
                case COMPLETE -> {
                    if (entry.onHosts()) {
                        Messages.info(entry.name() + " is skipped: its parts are only on its hosts");
                    } else {
                        usable.add(entry);
                    }
                }
                case CORRUPT -> Messages.warn(entry.name() + " is skipped: " + entry.problem().getMessage());
                case INCOMPLETE -> Messages.info(entry.name() + " is skipped: it is not complete");
            }
        }
        if (usable.isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND, "no complete checkpoint in " + directory);
        }
        return usable;
    }

    private List<Catalogue.Entry> entries(ImageKey key) {
        return Tiers.parse(directory)
                .map(tiers -> ImageLocation.list(tiers, key).stream().map(entry -> entry.best().entry()).toList())
                .orElseGet(() -> ImageLocation.list(ImageLocation.directory(directory), key));
    }

    /**
     * Of several nodes a checkpoint can be asked, but the job not run again by one process: said before the search,
     * which may take long.
     */
    private void refuseSeveral(List<Catalogue.Entry> entries) {
        for (Catalogue.Entry entry : entries) {
            if (!searchOnly && entry.manifest().nodes().size() > 1) {
                throw new Failure(ExitCode.UNSUPPORTED, entry.name() + " is of a job on "
                        + entry.manifest().nodes().size()
                        + " hosts, which bisect cannot run again; --search-only finds the first checkpoint in which "
                        + "the expression is true, and export-core writes a core file of it for gdb");
            }
        }
    }

    private static ProbeResult ask(CoreProbe probe, Catalogue.Entry entry) {
        ProbeResult verdict = probe.ask(entry.directory());
        if (verdict.truth() == ProbeResult.Truth.UNKNOWN) {
            Messages.warn(entry.name() + ": " + verdict);
        } else {
            Messages.info(entry.name() + ": " + verdict);
        }
        return verdict;
    }

    /** Where nothing was found there is a reason, and mostly a way. */
    private void refuse(Search.Found found, List<Catalogue.Entry> entries) {
        if (found.firstTrue() >= 0) {
            return;
        }
        if (found.asked().values().stream().allMatch(verdict -> verdict.truth() == ProbeResult.Truth.UNKNOWN)) {
            throw new Failure(ExitCode.NOT_FOUND, "gdb can evaluate '" + expression + "' in no checkpoint of "
                    + directory + ": " + found.asked().values().iterator().next().words()
                    + (frame == null
                            ? "; local variables need --frame FUNCTION, all need a program that was compiled with -g"
                            : ""));
        }
        throw new Failure(ExitCode.NOT_FOUND,
                "'" + expression + "' is not true in "
                        + (every ? "any checkpoint" : entries.get(Math.max(found.lastFalse(), 0)).name()
                                + ", the newest checkpoint in which gdb can evaluate it")
                        + (every ? ""
                                : "; if it was true only in an earlier checkpoint, --every finds that one"));
    }

    private void tell(Search.Found found, Catalogue.Entry first, Catalogue.Entry before) {
        String text = first.name() + " is the first checkpoint in which the expression is true (after "
                + found.asked().size() + " evaluations)"
                + (before == null ? "" : found.lastFalse() >= 0 ? "; " + before.name()
                        + " is the last in which it is false" : "; in no earlier one it is known to be false");
        Messages.info(text);
        if (searchOnly && !json) {
            System.out.println(first.name());
        }
    }

    private String again(Settings settings, Question question, List<String> debugger, WorkDirectory directory,
            Catalogue.Entry before, Catalogue.Entry first,
            ImageKey key, boolean alone, Duration timeout) throws IOException {
        if (before == null) {
            throw new Failure(ExitCode.NOT_FOUND, "the expression is true already in " + first.name()
                    + ", the oldest checkpoint: there is no earlier one to run again from");
        }
        if (place == null && !Watchpoints.reported()) {
            throw new Failure(ExitCode.UNSUPPORTED, "this machine does not report hardware watchpoints (a virtual "
                    + "machine without debug registers), so gdb would not see the value change: give a place with "
                    + "--at, or ask on another machine");
        }
        JobRow row = row(before, key);
        if (row(first, key).generation() != row.generation()) {
            Messages.warn(before.name() + " and " + first.name() + " belong to different incarnations of the job: it "
                    + "was restarted between them, perhaps from another checkpoint");
        }
        ImageLocation from = new ImageLocation(before.directory().getParent(), before);
        Reexecution reexecution = new Reexecution(settings, question, debugger, directory);
        Messages.info("running again from " + before.name() + (place == null ? ", with a watchpoint" : ", to " + place)
                + "; files that the job writes go to " + directory.path());
        if (!alone) {
            reexecution.interactively(from, row.name());
            return null;
        }
        StringBuilder said = new StringBuilder();
        String report = reexecution.alone(from, row.name(), timeout, said);
        if (report == null) {
            StandardError.patient().print(said);
            throw new Failure(ExitCode.NOT_FOUND, "the job ran again from " + before.name()
                    + " and gdb did not see the expression become true (its output is above): the job ran "
                    + "differently this time, or "
                    + (place != null ? "it was not true at " + place
                            : Reexecution.leftFrame(said.toString()) ? frame
                                    + " returned before that: give a function that returns later, or a place with --at"
                                    : Reexecution.singleStepped(said.toString())
                                            ? "gdb had no hardware watchpoint for it "
                                                    + "and checked after each instruction, which is thousands of "
                                                    + "times slower: give a place "
                                                    + "with --at"
                                            : "the kernel or a device wrote the value, which no watchpoint detects: "
                                                    + "give a place "
                                                    + "with --at"));
        }
        return report;
    }

    private static JobRow row(Catalogue.Entry entry, ImageKey key) throws IOException {
        try (CheckpointReader reader = new ImageLocation(entry.directory().getParent(), entry).open(key)) {
            return StateTables.readJob(reader).row();
        }
    }

    private ObjectNode describe(Search.Found found, List<Catalogue.Entry> entries, Catalogue.Entry first,
            Catalogue.Entry before, String report) {
        ObjectNode root = JsonOutput.document().put("rank", rank).put("pid", pid).put("expression", expression);
        ArrayNode asked = root.putArray("checkpoints");
        found.asked().forEach((number, verdict) -> {
            ObjectNode one = asked.addObject().put("id", entries.get(number).name());
            switch (verdict.truth()) {
                case TRUE -> one.put("value", true);
                case FALSE -> one.put("value", false);
                case UNKNOWN -> one.putNull("value").put("problem", verdict.words());
            }
        });
        return root.put("first_true", first.name()).put("ran_from", report == null ? null : before.name()).put("report",
                report);
    }
}
