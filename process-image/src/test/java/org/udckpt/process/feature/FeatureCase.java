package org.udckpt.process.feature;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.udckpt.process.capture.CaptureFailed;
import org.udckpt.process.capture.CaptureRefused;
import org.udckpt.process.restore.RestoreException;
import org.udckpt.process.restore.Restored;
import org.udckpt.process.restore.lazy.Filling;

/**
 * One feature program through a chain of: run, checkpoint at a random moment, go on, kill -9 of the whole tree, change
 * of its files, restore; then it is asked for its verdict.
 */
final class FeatureCase {
    private static final int READY_SECONDS = 20;
    private static final int FINISH_SECONDS = 25;
    private static final int ATTEMPTS = 10;
    private static final long SLOW_PAGE_NS = 50_000;

    private final Feature feature;
    private final Installation installation;
    private final Path directory;
    private final Flavour flavour;
    private final Random random;
    private final Compared compared;
    private Filling filling = Filling.NOTHING;

    /** @param directory an empty one; it stays when the case fails */
    FeatureCase(Feature feature, Installation installation, Path directory, long seed, Flavour flavour) {
        this.feature = feature;
        this.installation = installation;
        this.directory = directory;
        this.flavour = flavour;
        this.compared = new Compared(feature, directory.resolve("output"));
        this.random = new Random(seed ^ feature.name().hashCode());
    }

    /**
     * How often it was killed and restored: less than {@code generations} when a checkpoint was refused, as it may be.
     */
    int run(int generations) throws Exception {
        int restored = 0;
        Path work = Files.createDirectories(directory.resolve("work"));
        ShepherdProcess shepherd =
                new ShepherdProcess(installation.shepherd(), directory.resolve("s0"), directory.resolve("output"));
        int first = 0;
        boolean original = true;
        try {
            int pid = first = shepherd.spawn(directory.resolve("spec"), work,
                    List.of(installation.program(feature.name()).toString(), work.toString()),
                    installation.environment());
            awaitReady(shepherd, pid, work);
            for (int generation = 1; generation <= generations; generation++) {
                Thread.sleep(random.nextInt(250));
                filling.filled().get(FINISH_SECONDS, TimeUnit.SECONDS);
                try (SavedJob saved = checkpoint(pid, shepherd, generation, work)) {
                    if (saved == null) {
                        break; // refused, as it may be: the program goes on and gives its verdict below
                    }
                    Thread.sleep(flavour.compared() ? 0 : random.nextInt(100));
                    check(!Files.exists(work.resolve("result")), "the original was hurt by the checkpoint", work,
                            shepherd);
                    shepherd.close(); // kill -9 of all that runs below it
                    if (generation == 1) {
                        Leftovers.removeSystemV(first);
                        original = false;
                    }
                    spoilFiles(work);
                    for (int attempt = 0; pid == 0 || attempt == 0; attempt++) {
                        shepherd = saved.newShepherd(restoring(), directory.resolve("s" + generation + "-" + attempt),
                                directory.resolve("output"));
                        pid = restore(saved, shepherd, attempt);
                    }
                    restored++;
                    Thread.sleep(random.nextInt(200));
                    filling.filled().get(FINISH_SECONDS, TimeUnit.SECONDS); // the image is in this process's memory
                }
            }
            finish(shepherd, pid, work);
            return restored;
        } finally {
            Thread.interrupted(); // what comes is waited for, also when the suite is stopped
            filling.close();
            shepherd.close();
            if (original) {
                Leftovers.removeSystemV(first);
            }
            Leftovers.removeSharedMemory(first);
        }
    }

    /** What restores it: with few more descriptors than the job has, where it has many. */
    private Path restoring() throws IOException {
        if (feature.descriptors() == 0) {
            return installation.shepherd();
        }
        Path limited = directory.resolve("limited-shepherd");
        Files.writeString(limited, "#!/bin/sh\nulimit -n %d && exec %s \"$@\"\n".formatted(feature.descriptors(),
                installation.shepherd()));
        Files.setPosixFilePermissions(limited, PosixFilePermissions.fromString("rwxr-xr-x"));
        return limited;
    }

    /** Returns its pid; 0 when another program of this machine has a port of its now, which a user is told to end. */
    private int restore(SavedJob saved, ShepherdProcess shepherd, int attempt) throws Exception {
        try {
            int pid = flavour.lazy() ? restoreLazily(saved, shepherd)
                    : saved.first(saved.restore(shepherd, false, this::look));
            compared.check();
            return pid;
        } catch (RestoreException busy) {
            if (attempt == ATTEMPTS || !busy.getMessage().contains(" is in use, by another program")) {
                throw busy;
            }
            shepherd.close();
            Thread.sleep(300);
            return 0;
        }
    }

    private void look(Collection<Integer> hostPids) {
        if (flavour.compared()) {
            compared.after(hostPids);
        }
    }

    private int restoreLazily(SavedJob saved, ShepherdProcess shepherd) {
        filling.close();
        Restored restored = saved.slow(SLOW_PAGE_NS).restore(shepherd, true, this::look);
        filling = restored.filling();
        if (filling.bytes() == 0) {
            throw new AssertionError(feature.name() + ": no memory came in after its start");
        }
        return saved.first(restored);
    }

    private void awaitReady(ShepherdProcess shepherd, int pid, Path work) throws Exception {
        for (int round = 0; !Files.exists(work.resolve("ready")); round++) {
            check(!shepherd.exited(pid), "it ended before it was ready", work, shepherd);
            check(round < READY_SECONDS * 100, "it was not ready after " + READY_SECONDS + " s", work, shepherd);
            Thread.sleep(10);
        }
    }

    private SavedJob checkpoint(int pid, ShepherdProcess shepherd, int generation, Path work) throws IOException {
        try {
            SavedJob saved =
                    flavour.compared() ? SavedJob.captureLast(pid, shepherd, feature.second(), compared::before)
                            : SavedJob.capture(pid, shepherd, feature.second());
            if (!feature.mayRestore()) {
                saved.close();
                throw new AssertionError(feature.name() + " was captured, but it has to be refused");
            }
            return saved;
        } catch (CaptureRefused refused) {
            if (feature.refusal() == null || !refused.getMessage().toLowerCase().contains(feature.refusal())) {
                throw new AssertionError(
                        "checkpoint " + generation + " of " + feature.name() + " was refused: " + refused.getMessage()
                                + "; " + descriptors(refused.pid()),
                        refused);
            }
            return null;
        } catch (CaptureFailed failed) {
            check(!Files.exists(work.resolve("result")), "it failed before checkpoint " + generation, work, shepherd);
            throw failed;
        }
    }

    private static String descriptors(int pid) {
        try (Stream<Path> files = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return files.map(f -> f.getFileName() + "=" + org.udckpt.linux.Files.readLink(f.toString())).sorted()
                    .toList().toString();
        } catch (IOException e) {
            return e.toString();
        }
    }

    private void finish(ShepherdProcess shepherd, int pid, Path work) throws Exception {
        check(!Files.exists(work.resolve("result")), "it failed before it was asked", work, shepherd);
        Files.createFile(work.resolve("finish"));
        int status = shepherd.awaitExit(pid, FINISH_SECONDS);
        check(status == 0, "it ended with wait status 0x" + Integer.toHexString(status), work, shepherd);
        check(Files.readString(work.resolve("result")).equals("PASS\n"), "its verdict is not PASS", work, shepherd);
    }

    private void check(boolean condition, String what, Path work, ShepherdProcess shepherd) throws IOException {
        if (!condition) {
            Path result = work.resolve("result");
            throw new AssertionError(feature.name() + ": " + what + "; "
                    + (Files.exists(result) ? "verdict: " + Files.readString(result).strip() + "; " : "")
                    + shepherd.printed());
        }
    }

    /**
     * What a job does to its files after a checkpoint has to be undone by a restart: both ends of each *.data change
     * here.
     */
    private static void spoilFiles(Path work) throws IOException {
        try (Stream<Path> files = Files.list(work)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".data")).toList()) {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.write(ByteBuffer.wrap(new byte[7]), 0);
                    channel.write(ByteBuffer.wrap("from a future that never was\n".repeat(300).getBytes()),
                            channel.size());
                }
            }
        }
    }
}
