package org.udckpt.job.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.udckpt.image.CheckpointReader;
import org.udckpt.image.ImageKey;
import org.udckpt.image.VerifiedMark;
import org.udckpt.job.report.Durations;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.ImageTables;
import org.udckpt.job.store.Keys;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code udckpt verify}: reads and checks every byte of a checkpoint. */
@Command(name = "verify", description = "Read a checkpoint whole and check every byte.")
final class VerifyCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Parameters(paramLabel = "DIR[/ID]", description = "a checkpoint, or the newest complete one of a directory")
    private String image;

    @Override
    public Integer call() {
        common.settings();
        ImageKey key = Keys.user();
        ImageLocation location = ImageLocation.find(image, key);
        try (CheckpointReader reader = location.open(key); ProgressBar bar = new ProgressBar("verify")) {
            reader.verify(bar::show);
            ImageTables.readState(reader);
            ImageTables.readImage(reader);
            bar.close();
            mark(location);
            System.out.println(location.entry().name() + ": " + Durations.bytes(reader.manifest().storedBytes()) + " in "
                    + reader.manifest().files().size() + " files are as they were written");
            return ExitCode.DONE.value();
        } catch (IOException e) {
            throw Failure.of("verifying " + location.entry().name(), e);
        }
    }

    private static void mark(ImageLocation location) {
        try {
            VerifiedMark.write(location.entry().directory());
        } catch (IOException e) {
            Messages.warn("the image is good, but 'udckpt list' will not show that it was verified: " + e.getMessage());
        }
    }
}
