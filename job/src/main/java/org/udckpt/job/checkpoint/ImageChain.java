package org.udckpt.job.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.image.ImageError;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.History;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.store.FormSettings;

/**
 * The checkpoints of a job as they follow each other: which of them hold everything, and which only what changed since. For one
 * thread at a time.
 */
final class ImageChain {
    private static final int FIRST_FILE = 1 << 24; // above those of processes and shared memory

    private final Settings settings;
    private final Path directory;
    private final WriterOptions options;
    private final Checkpointer.BeforeNumber beforeNumber;
    private final Map<String, Integer> fileNumbers = new HashMap<>();
    private History history;
    private int sinceFull;

    /** @param directory of all the job's checkpoints; made when it is not there */
    ImageChain(Settings settings, Path directory, WriterOptions options, Checkpointer.BeforeNumber beforeNumber) {
        this.settings = settings;
        this.directory = directory;
        this.options = options;
        this.beforeNumber = beforeNumber;
    }

    /** Begins the next one, which {@code meter} counts: makes its directory, so that what is wrong with it is known before the job is stopped. */
    CheckpointWriter begin(WriteMeter meter) {
        WriterOptions metered = options.withMeter(meter);
        try {
            Files.createDirectories(directory.getParent());
            beforeNumber.run();
            if (sinceFull >= FormSettings.fullEvery(settings)) {
                history = null;
            }
            if (history != null) {
                try {
                    return CheckpointWriter.create(directory, metered, history);
                } catch (ImageError gone) {
                    Messages.warn("the next checkpoint holds everything again: " + gone.getMessage());
                    history = null;
                }
            }
            sinceFull = 0;
            return CheckpointWriter.create(directory, metered);
        } catch (IOException e) {
            throw Failure.of("beginning a checkpoint in " + directory, e);
        }
    }

    /** The number of a file's content in all of them: by its number it is compared with what it was before. */
    int number(String file) {
        return fileNumbers.computeIfAbsent(file, _ -> FIRST_FILE + fileNumbers.size());
    }

    /** {@code writer}'s checkpoint is complete; one that failed changes nothing. */
    void complete(CheckpointWriter writer) {
        history = writer.history();
        sinceFull++;
    }
}
