package org.udckpt.lifecycle.restart;

import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.agent.Job;
import org.udckpt.lifecycle.checkpoint.JobFiles;
import org.udckpt.process.capture.CaptureRequest;
import org.udckpt.process.files.Rollback;
import org.udckpt.process.files.RollbackRequest;
import org.udckpt.process.files.RolledBack;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.FilePatterns;
import org.udckpt.support.config.Option;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.Messages;

/**
 * The job's files during a restart: put back before its processes open them, and again as they were when it fails.
 * Tells what it did.
 */
final class RestartFiles implements RestoredFilesTransaction.PutBack {
    private static final int MOST_LINES = 100;
    private static final long EXACT = 100_000;

    private final RestartLock alone;
    private final Rollback rollback;

    private RestartFiles(RestartLock alone, Rollback rollback) {
        this.alone = alone;
        this.rollback = rollback;
    }

    /** @param checkpoint its directory */
    static RestartFiles putBack(Job job, JobImage image, List<MemorySource> memory, Path checkpoint) {
        return putBack(job, image, memory, checkpoint, RestartLock.of(checkpoint.getParent(), Tiers.of(job.settings())),
                Set.of());
    }

    /**
     * Puts back the files of a unit of a job of several nodes, whose lead ensures that there is only one restart.
     *
     * @param elsewhere paths of files that another unit puts back
     */
    static RestartFiles putBackOfUnit(Job job, JobImage image, List<MemorySource> memory, Path checkpoint,
            Set<String> elsewhere) {
        return putBack(job, image, memory, checkpoint, RestartLock.elsewhere(), elsewhere);
    }

    private static RestartFiles putBack(Job job, JobImage image, List<MemorySource> memory, Path checkpoint,
            RestartLock alone, Set<String> elsewhere) {
        goOnSaving(job, image);
        try {
            Rollback rollback = Rollback.prepare(image, memory, new RollbackRequest(checkpoint.getFileName().toString(),
                    job.settings().keepsReplacedFiles(), JobFiles.foreign(job), "",
                    CaptureRequest.StandardStreams.of((int) ProcessHandle.current().pid()).identities(), elsewhere));
            try {
                rollback.swap();
                return new RestartFiles(alone, rollback);
            } catch (RuntimeException e) {
                rollback.close();
                throw e;
            }
        } catch (RuntimeException e) {
            alone.close();
            throw e;
        }
    }

    /** The file at each path, after this. */
    Map<String, org.udckpt.linux.Files.Stat> stats() {
        return rollback.stats();
    }

    /**
     * Where a copy of the job has changes of its own; they end with it.
     *
     * @param root /proc/PID/root of one of its processes
     */
    static void putBackBelow(String root, Job job, JobImage image, List<MemorySource> memory) {
        try (Rollback rollback = Rollback.prepare(image, memory,
                new RollbackRequest("trial", false, JobFiles.foreign(job), root, new long[0], Set.of()))) {
            rollback.swap();
            rollback.commit();
        }
    }

    /** What was part of the checkpoints stays it, unless this restart says otherwise. */
    private static void goOnSaving(Job job, JobImage image) {
        for (Option option : new Option[]{Option.FILES, Option.FILES_EXCEPT}) {
            List<String> named = image.files().stream()
                    .filter(file -> file instanceof JobFile.Named pattern
                            && pattern.except() == (option == Option.FILES_EXCEPT))
                    .map(JobFile::path).toList();
            if (job.settings().text(option).isEmpty() && !named.isEmpty()) {
                job.settings().flag(option, FilePatterns.joined(named));
            }
        }
    }

    @Override
    public void stay() {
        rollback.commit();
        alone.close();
        rollback.leftovers().forEach(left -> Messages.warn("could not remove all replaced files: " + left));
        List<RolledBack> report = rollback.report();
        report.stream().limit(MOST_LINES).forEach(file -> Messages.info(line(file)));
        if (report.size() > MOST_LINES) {
            Messages.info("... and " + (report.size() - MOST_LINES) + " more files were rolled back");
        }
    }

    private static String line(RolledBack file) {
        String kept = file.kept() == null ? "" : "; the replaced file is kept as " + file.kept();
        return switch (file.what()) {
            case REPLACED -> "rolled back " + file.path() + ": from " + state(file.fromSize(), file.fromModifiedNs())
                    + " to " + state(file.toSize(), file.toModifiedNs()) + kept;
            case PUT_BACK -> "restored " + file.path() + ", which was missing: "
                    + state(file.toSize(), file.toModifiedNs());
            case MADE_SINCE -> file.kept() == null ? "removed " + file.path() + ", which was made after the checkpoint"
                    : "moved " + file.path() + ", which was made after the checkpoint, to " + file.kept();
            case CUT -> "truncated " + file.path() + ": from " + size(file.fromSize()) + " to " + size(file.toSize())
                    + (file.kept() == null ? "" : "; the replaced file is kept as " + file.kept());
        };
    }

    private static String size(long bytes) {
        return bytes < EXACT ? bytes + " bytes" : Durations.bytes(bytes);
    }

    private static String state(long size, long modifiedNs) {
        return size(size) + (modifiedNs == 0 ? "" : " of " + DateTimeFormatter
                .ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneId.systemDefault())
                .format(Instant.ofEpochSecond(0, modifiedNs)));
    }

    @Override
    public void close() {
        try (alone) {
            rollback.close();
        }
    }
}
