package org.udckpt.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.udckpt.image.key.ImageKey;
import org.udckpt.inspect.core.CoreExport;
import org.udckpt.store.OpenImage;
import org.udckpt.store.ProcessChoice;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt export-core}: a process of a checkpoint as a core file for gdb. */
@Command(name = "export-core", description = "Write a rank, or any process, of a checkpoint as a core file for gdb.")
final class ExportCoreCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Mixin
    private KeyOption encrypted;

    @Option(names = "--rank", paramLabel = "R", description = "the rank: its process with the verbs device, else its "
            + "first process")
    private Integer rank;

    @Option(names = "--pid", paramLabel = "P", description = "the process with this pid in the job ('inspect' lists "
            + "them); with --rank, a process of that rank")
    private Integer pid;

    @Option(names = "--node", paramLabel = "N", description = "with --pid, in a checkpoint of several nodes: the "
            + "node of the process ('inspect' numbers them)")
    private Integer node;

    @Option(names = "--output", paramLabel = "FILE", description = "the core file, which must not exist; default: "
            + "./JOB-ID-rank-R.core or ./JOB-ID-pid-P.core")
    private String output;

    @Option(names = "--json", description = "print JSON, schema 1")
    private boolean json;

    @Parameters(paramLabel = "DIR[/ID]", description = "a checkpoint, or the newest complete one of a directory")
    private String image;

    @Override
    public Integer call() throws IOException {
        if (rank == null && pid == null) {
            throw new Failure(ExitCode.USAGE,
                    "export-core: name a rank (--rank R) or a process (--pid P); 'udckpt inspect' lists them");
        }
        ImageKey key = encrypted.key(common.settings());
        try (OpenImage open = OpenImage.open(image, key)) {
            ProcessChoice.Chosen process = new ProcessChoice(rank, pid, node).one(open);
            Path target = target(open);
            CoreExport.Result result = write(open, process, target);
            result.problems().forEach(Messages::warn);
            if (json) {
                JsonOutput.print(describe(open, process, target, result));
            } else {
                System.out.printf("%s: %s%s of %s, %d threads, %s, %s of it on the disk%n", target, process.name(),
                        open.place(process.node()), open.name(), result.threads(), Durations.bytes(result.length()),
                        Durations.bytes(result.written()));
                Messages.info("open it with: gdb " + process.state().executable() + " " + target);
            }
        }
        return ExitCode.DONE.value();
    }

    private Path target(OpenImage open) {
        if (output != null && output.isEmpty()) {
            throw new Failure(ExitCode.USAGE, "--output: the file name is empty");
        }
        String place = (node == null ? "" : "node-" + node + "-")
                + (pid == null ? "rank-" + rank : rank == null ? "pid-" + pid : "rank-" + rank + "-pid-" + pid);
        Path target =
                Path.of(output != null ? output : open.job().row().name() + "-" + open.name() + "-" + place + ".core");
        Path directory = target.toAbsolutePath().getParent();
        if (directory == null || !Files.isDirectory(directory)) {
            throw new Failure(ExitCode.NOT_FOUND, "--output " + target + ": no directory " + directory);
        }
        return target;
    }

    private static CoreExport.Result write(OpenImage open, ProcessChoice.Chosen process, Path target) {
        try (ReadView view = new ReadView("export-core")) {
            return new CoreExport(process.node(), process.state()).write(target, view::show);
        } catch (FileAlreadyExistsException e) {
            throw new Failure(ExitCode.USAGE, target + " exists and is not overwritten; remove it, or give another "
                    + "--output", e);
        } catch (IOException | RuntimeException e) {
            throw Failure.of("writing " + target + " from " + open.name(), e);
        }
    }

    private static ObjectNode describe(OpenImage open, ProcessChoice.Chosen process, Path target,
            CoreExport.Result result) {
        ObjectNode root = JsonOutput.document().put("checkpoint", open.name()).put("file",
                target.toAbsolutePath().normalize().toString());
        process.node().processes().rank(process.state()).ifPresent(number -> root.put("rank", number));
        root.put("pid", process.state().pid()).put("executable", process.state().executable())
                .put("node", process.node().index()).put("host", process.node().host());
        root.put("threads", result.threads()).put("segments", result.segments()).put("bytes", result.length())
                .put("stored_bytes", result.written());
        result.problems().forEach(root.putArray("problems")::add);
        return root;
    }
}
