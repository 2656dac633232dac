package org.udckpt.lifecycle.checkpoint;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.udckpt.agent.Job;
import org.udckpt.process.files.FileRequest;
import org.udckpt.process.files.HotFiles;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.FilePatterns;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;

/** Which files belong to a job's checkpoints, by its settings. */
public final class JobFiles {
    private JobFiles() {}

    static FileRequest request(Job job, HotFiles hot) {
        return new FileRequest(FilePatterns.of(job.settings(), Option.FILES),
                FilePatterns.of(job.settings(), Option.FILES_EXCEPT), foreign(job), Set.of(),
                job.settings().bytes(Option.FILES_IN_STOP, 0), job.settings().bytes(Option.FILES_LIMIT, 0), hot,
                job.settings().truth(Option.WITH_LIBRARIES));
    }

    /** Directories that are udckpt's, although they may lie in the job's. */
    public static List<String> foreign(Job job) {
        return foreign(job.settings(), job.imageDirectory(), job.runtime().path());
    }

    /**
     * The same of a job that is not there yet.
     *
     * @param images where its checkpoints go.
     * @param runtime its runtime directory
     */
    public static List<String> foreign(Settings settings, Path images, Path runtime) {
        List<String> directories = new ArrayList<>(List.of(real(images), real(runtime)));
        Tiers.of(settings)
                .ifPresent(tiers -> directories.addAll(List.of(real(tiers.fast().path()), real(tiers.slow().path()))));
        return directories;
    }

    /** As the kernel names it. */
    private static String real(Path directory) {
        try {
            return directory.toRealPath().toString();
        } catch (java.io.IOException notThereYet) {
            Path parent = directory.toAbsolutePath().normalize().getParent();
            return parent == null ? "/" : Path.of(real(parent)).resolve(directory.getFileName()).toString();
        }
    }
}
