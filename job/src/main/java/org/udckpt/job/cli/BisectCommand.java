package org.udckpt.job.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.job.bisect.CoreProbe;
import org.udckpt.job.bisect.Question;
import org.udckpt.job.bisect.Reexecution;
import org.udckpt.job.bisect.Search;
import org.udckpt.job.bisect.Verdict;
import org.udckpt.job.bisect.WorkDirectory;
import org.udckpt.job.config.Settings;
import org.udckpt.job.debug.GdbCommand;
import org.udckpt.job.launch.DeviceChoice;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.report.StandardError;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.JobRow;
import org.udckpt.job.store.ProcessChoice;
import org.udckpt.job.store.StateTables;
import org.udckpt.job.store.Tiers;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt bisect}: the first checkpoint of a run in which an expression is true, and the statement that made it so. */
@Command(name = "bisect", description = "Find the first checkpoint in which an expression of gdb's is true, and run the job again from the one before to the statement that makes it true.")
final class BisectCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Mixin
    private KeyOption encrypted;

    @Option(names = "--rank", paramLabel = "R", description = "the rank whose variables the expression names: its process with the verbs device, else its first")
    private Integer rank;

    @Option(names = "--pid", paramLabel = "P", description = "a process by its pid in the job ('inspect' lists them); with --rank, one of that rank")
    private Integer pid;

    @Option(names = "--node", paramLabel = "N", description = "with --pid, in checkpoints of several nodes: whose pid it is ('inspect' numbers them)")
    private Integer node;

    @Option(names = "--when", required = true, paramLabel = "EXPRESSION", description = "as gdb evaluates it; true is what is not zero")
    private String expression;

    @Option(names = "--frame", paramLabel = "FUNCTION", description = "the function whose local variables the expression names; it is looked for on the stacks")
    private String frame;

    @Option(names = "--at", paramLabel = "PLACE", description = "run again to this function or FILE:LINE, where the expression is looked at; default: a watchpoint, which stops where its value changes")
    private String place;

    @Option(names = "--every", description = "ask each checkpoint, oldest first: for an expression that does not stay true")
    private boolean every;

    @Option(names = "--search-only", description = "do not run the job again")
    private boolean searchOnly;

    @Option(names = "--batch", description = "print where it became true, and end; default: gdb asks, on the terminal")
    private boolean batch;

    @Option(names = "--limit", paramLabel = "DURATION", description = "with --batch: give up running again after that long, e.g. 10m; default: when the job ends")
    private String limit;

    @Option(names = "--gdb", paramLabel = "COMMAND", description = "the debugger, with options of yours; default: gdb")
    private String gdb;

    @Option(names = "--device", description = "soft, auto, or names of verbs devices, for the job that runs again")
    private String device;

    @Option(names = "--work", paramLabel = "DIR", description = "for a core file at a time, and for what the job writes when it runs again; default: the system's temporary files")
    private Path work;

    @Option(names = "--json", description = "as JSON, schema 1; implies --batch")
    private boolean json;

    @Parameters(paramLabel = "DIR", description = "the directory of a run's checkpoints, or its tiers fast=DIR,slow=DIR")
    private String directory;

    @Override
    public Integer call() throws IOException {
        Settings settings = common.settings().flag(org.udckpt.job.config.Option.DEVICE, device);
        ImageKey key = encrypted.key(settings);
        boolean alone = batch || json;
        if (limit != null && !alone) {
            throw new Failure(ExitCode.USAGE, "--limit goes with --batch: who debugs by hand ends gdb by hand");
        }
        Duration patience = limit == null ? null : Settings.duration(limit, "--limit");
        List<String> debugger = DebugOptions.words(gdb);
        new GdbCommand(debugger, List.of(), !alone && !searchOnly, null); // it and a terminal are there, before the search
        DeviceChoice.resolve(settings);
        if (rank == null && pid == null) {
            throw new Failure(ExitCode.USAGE, "bisect: name a rank (--rank R) or a process (--pid P); 'udckpt inspect' lists them");
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
            Catalogue.Entry before = found.firstTrue() == 0 ? null : entries.get(found.lastFalse() >= 0 ? found.lastFalse() : found.firstTrue() - 1);
            tell(found, first, before);
            String report = null;
            if (!searchOnly) {
                report = again(settings, question, debugger, directory, before, first, key, alone, patience);
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
                        Messages.info(entry.name() + " is passed over: only its hosts have its parts");
                    } else {
                        usable.add(entry);
                    }
                }
                case CORRUPT -> Messages.warn(entry.name() + " is passed over: " + entry.problem().getMessage());
                case INCOMPLETE -> Messages.info(entry.name() + " is passed over: it is not complete");
            }
        }
        if (usable.isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND, "no complete checkpoint in " + directory);
        }
        return usable;
    }

    private List<Catalogue.Entry> entries(ImageKey key) {
        return Tiers.parse(directory).map(tiers -> ImageLocation.list(tiers, key).stream().map(entry -> entry.best().entry()).toList())
                .orElseGet(() -> ImageLocation.list(ImageLocation.directory(directory), key));
    }

    /** Of several nodes a checkpoint can be asked, but the job not run again by one process: said before the search, which may take long. */
    private void refuseSeveral(List<Catalogue.Entry> entries) {
        for (Catalogue.Entry entry : entries) {
            if (!searchOnly && entry.manifest().nodes().size() > 1) {
                throw new Failure(ExitCode.UNSUPPORTED, entry.name() + " is of a job on " + entry.manifest().nodes().size()
                        + " hosts, which bisect cannot run again; --search-only finds the first checkpoint in which it is true, and export-core has it for gdb");
            }
        }
    }

    private static Verdict ask(CoreProbe probe, Catalogue.Entry entry) {
        Verdict verdict = probe.ask(entry.directory());
        if (verdict.truth() == Verdict.Truth.UNKNOWN) {
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
        if (found.asked().values().stream().allMatch(verdict -> verdict.truth() == Verdict.Truth.UNKNOWN)) {
            throw new Failure(ExitCode.NOT_FOUND, "gdb can evaluate '" + expression + "' in no checkpoint of " + directory + ": " + found.asked().values().iterator().next().words()
                    + (frame == null ? "; local variables need --frame FUNCTION, all need a program that was compiled with -g" : ""));
        }
        throw new Failure(ExitCode.NOT_FOUND, "'" + expression + "' is not true in " + (every ? "any checkpoint" : entries.get(Math.max(found.lastFalse(), 0)).name()
                + ", the newest that can tell") + (every ? "" : "; if it was true for a while before, --every finds that"));
    }

    private void tell(Search.Found found, Catalogue.Entry first, Catalogue.Entry before) {
        String text = first.name() + " is the first checkpoint in which it is true, after " + found.asked().size() + " questions"
                + (before == null ? "" : found.lastFalse() >= 0 ? "; " + before.name() + " is the last in which it is known not to be" : "; of none before it is known that it is not");
        Messages.info(text);
        if (searchOnly && !json) {
            System.out.println(first.name());
        }
    }

    private String again(Settings settings, Question question, List<String> debugger, WorkDirectory directory, Catalogue.Entry before, Catalogue.Entry first,
            ImageKey key, boolean alone, Duration patience) throws IOException {
        if (before == null) {
            throw new Failure(ExitCode.NOT_FOUND, "it is true in " + first.name() + " already, the oldest checkpoint: there is none before it to run again from");
        }
        JobRow row = row(before, key);
        if (row(first, key).generation() != row.generation()) {
            Messages.warn(before.name() + " and " + first.name() + " are of different lives of the job: between them it was restarted, perhaps from another checkpoint");
        }
        ImageLocation from = new ImageLocation(before.directory().getParent(), before);
        Reexecution reexecution = new Reexecution(settings, question, debugger, directory);
        Messages.info("running again from " + before.name() + (place == null ? ", with a watchpoint" : ", to " + place) + "; what the job writes goes to " + directory.path());
        if (!alone) {
            reexecution.interactively(from, row.name());
            return null;
        }
        StringBuilder said = new StringBuilder();
        String report = reexecution.alone(from, row.name(), patience, said);
        if (report == null) {
            StandardError.patient().print(said);
            throw new Failure(ExitCode.NOT_FOUND, "the job ran again from " + before.name() + " and gdb did not see it become true (above is what it said): this time the job took another way, or "
                    + (place != null ? "it was not true at " + place
                            : Reexecution.leftFrame(said.toString()) ? frame + " returned before that: name a function that stays longer, or a place with --at"
                            : Reexecution.singleStepped(said.toString()) ? "gdb had no hardware watchpoint for it and looked after each instruction, which takes thousands of times as long: name a place with --at"
                            : "the kernel or a device wrote the value, which no watchpoint sees: name a place with --at"));
        }
        return report;
    }

    private static JobRow row(Catalogue.Entry entry, ImageKey key) throws IOException {
        try (CheckpointReader reader = new ImageLocation(entry.directory().getParent(), entry).open(key)) {
            return StateTables.readJob(reader).row();
        }
    }

    private ObjectNode describe(Search.Found found, List<Catalogue.Entry> entries, Catalogue.Entry first, Catalogue.Entry before, String report) {
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
        return root.put("first_true", first.name()).put("ran_from", report == null ? null : before.name()).put("report", report);
    }
}
