package org.udckpt.cli.bisect;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.process.restore.PrivateFiles;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * A directory for what a search writes, for its owner's eyes only; gone afterwards, also when a signal ends the search:
 * cores are not encrypted.
 */
public final class WorkDirectory implements AutoCloseable {
    private final Path path;
    private final Thread atExit = new Thread(this::remove);

    private WorkDirectory(Path path) {
        this.path = path;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** @param parent null: the system's directory for temporary files */
    public static WorkDirectory in(Path parent) {
        try {
            if (parent != null && !Files.isDirectory(parent)) {
                throw new Failure(ExitCode.NOT_FOUND, "--work: no directory " + parent);
            }
            Path made = parent == null ? Files.createTempDirectory("udckpt-bisect")
                    : Files.createTempDirectory(parent, "udckpt-bisect");
            return new WorkDirectory(made.toAbsolutePath());
        } catch (IOException e) {
            throw Failure.of("making a directory for core files", e);
        }
    }

    public Path path() {
        return path;
    }

    /** For the files that the job changes: see {@link org.udckpt.lifecycle.restart.InspectionOptions}. */
    Path trial() throws IOException {
        Path trial = Files.createDirectories(path.resolve("trial"));
        Files.createDirectories(trial.resolve("files"));
        return trial;
    }

    @Override
    public void close() {
        remove();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException exiting) {
            Messages.debugTrace("a signal ended the search", exiting);
        }
    }

    private synchronized void remove() {
        removeMade(path.resolve("trial/files"));
        if (Files.exists(path) && !delete(path.toFile())) {
            Messages.warn("could not remove all of " + path + "; remove it by hand");
        }
    }

    private static void removeMade(Path changes) {
        try {
            if (Files.isDirectory(changes)) {
                PrivateFiles.removeMade(changes);
            }
        } catch (IOException e) {
            Messages.warn(Failure.of("removing a directory that was made for the job's changes", e).getMessage());
        }
    }

    /** Overlayfs leaves directories that nobody may read. */
    private static boolean delete(File file) {
        if (Files.isDirectory(file.toPath(), java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
            file.setReadable(true);
            file.setExecutable(true);
            File[] entries = file.listFiles();
            for (File entry : entries == null ? new File[0] : entries) {
                delete(entry);
            }
        }
        return file.delete();
    }
}
