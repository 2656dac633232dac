package org.udckpt.lifecycle.unit;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.udckpt.cluster.ControlMessage;
import org.udckpt.image.ImageNames;
import org.udckpt.image.catalogue.PartCopy;
import org.udckpt.image.directory.PartDirectory;
import org.udckpt.image.storage.BackgroundThread;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * A unit's parts of checkpoints on a fast tier that its host has for itself, once they are written: copies them to
 * where the whole is to be, and removes those that do not stay, one after the other, as the lead asks. Whether ranks
 * run is all the same to it.
 */
final class UnitParts implements AutoCloseable {
    private static final long CLOSE_SECONDS = 10;
    private static final int NONE = -1;

    private final int unit;
    private final Set<Integer> here;
    private final String host;
    private final Supplier<WriterOptions> options;
    private final Consumer<ControlMessage.ToLead> tell;
    private final ExecutorService work =
            Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("unit-parts").factory());
    /** The one that is wanted. */
    private volatile int round = NONE;

    /**
     * @param here    the units on this host, if this one looks after what others have left on it; else none
     * @param host    its name, for people
     * @param options of the unit's images, whose rate they share
     * @param tell    brings a note to the lead, from any thread
     */
    UnitParts(int unit, Set<Integer> here, String host, Supplier<WriterOptions> options,
            Consumer<ControlMessage.ToLead> tell) {
        this.unit = unit;
        this.here = here;
        this.host = host;
        this.options = options;
        this.tell = tell;
    }

    void copy(ControlMessage.Copy asked) {
        round = asked.round();
        work.submit(() -> tell.accept(new ControlMessage.Copied(asked.round(), copied(asked))));
    }

    /** What went wrong, or "". */
    private String copied(ControlMessage.Copy asked) {
        try {
            WriterOptions own = options.get();
            if (own.courtesy().background()) {
                BackgroundThread.become();
            }
            new PartCopy(asked.parts(), Path.of(asked.copy()), own.key(), own.courtesy().rate(),
                    () -> round != asked.round(), own.storage()).run(unit);
            return "";
        } catch (CancellationException e) {
            return "abandoned";
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            Failure failure =
                    Failure.of("copying " + asked.copy(), e instanceof Exception known ? known : new IOException(e));
            Messages.debugTrace("unit " + unit + " on " + host, failure);
            return failure.getMessage();
        }
    }

    void giveUp(ControlMessage.NoCopy asked) {
        if (round == asked.round()) {
            round = NONE;
        }
    }

    void stay(ControlMessage.Stay asked) {
        work.submit(() -> {
            try {
                PartDirectory.keep(asked.parts(), unit, asked.newest(), asked.checkpoints(), options.get().storage());
                if (!here.isEmpty()) {
                    PartDirectory.keepOfMoved(asked.parts(), here, asked.newest(), asked.checkpoints(),
                            options.get().storage());
                }
            } catch (IOException | RuntimeException e) {
                Messages.warn("host " + host + ": could not remove old parts of checkpoints in "
                        + asked.parts().directory() + ": " + e.getMessage());
            }
        });
    }

    /** Breaks off what is under way, and takes nothing more. */
    void end() {
        round = NONE;
        work.shutdown();
    }

    /** Waits for it. */
    @Override
    public void close() {
        end();
        try {
            if (!work.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                Messages.warn("host " + host + ": the copy of " + ImageNames.node(unit)
                        + "* was in progress when the agent ended; it stays incomplete");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
