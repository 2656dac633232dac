package org.udckpt.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.udckpt.image.key.ImageKey;
import org.udckpt.inspect.diff.CheckpointComparison;
import org.udckpt.inspect.diff.ImageDiff;
import org.udckpt.store.OpenImage;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt diff}: what changed from one checkpoint to another. */
@Command(name = "diff", description = "Show what changed between two checkpoints: memory contents, mappings, "
        + "descriptors, threads, addresses.")
final class DiffCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Mixin
    private KeyOption encrypted;

    @Option(names = "--json", description = "print JSON, schema 1")
    private boolean json;

    @Parameters(index = "0", paramLabel = "DIR[/ID1]", description = "the older checkpoint")
    private String older;

    @Parameters(index = "1", paramLabel = "DIR[/ID2]", description = "the newer checkpoint, in this or another "
            + "directory")
    private String newer;

    @Override
    public Integer call() throws IOException {
        ImageKey key = encrypted.key(common.settings());
        try (OpenImage one = OpenImage.open(older, key); OpenImage other = OpenImage.open(newer, key)) {
            ImageDiff diff = compare(one, other);
            if (json) {
                JsonOutput.print(DiffJson.of(diff));
            } else {
                new DiffText(diff).print();
            }
        }
        return ExitCode.DONE.value();
    }

    private static ImageDiff compare(OpenImage one, OpenImage other) {
        try (ReadView view = new ReadView("diff")) {
            return new CheckpointComparison(one, other).run(view::show);
        } catch (RuntimeException e) {
            throw Failure.of("comparing " + one.name() + " and " + other.name(), e);
        }
    }
}
