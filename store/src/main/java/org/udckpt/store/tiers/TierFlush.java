package org.udckpt.store.tiers;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.udckpt.image.ImageError;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.TieredCatalogue;
import org.udckpt.image.storage.BackgroundThread;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.store.Damage;
import org.udckpt.store.Tiers;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * Copies checkpoints from the fast tier to the slow one while the job runs: one at a time, the newest first; those that
 * a newer one has overtaken are skipped. A slow tier that fails is reported, and tried again at the next checkpoint;
 * the job and the fast copy know nothing of it.
 */
@SuppressWarnings("try") // close() waits for what is under way, and whoever closes may be interrupted
public final class TierFlush implements AutoCloseable {
    private static final Duration BRIEFLY = Duration.ofMillis(500);
    private static final Duration NUMBER_GRACE = Duration.ofSeconds(2);
    // longer than hosts are waited for that have been told to end
    private static final Duration GIVING_UP = Duration.ofSeconds(45);

    private final Tiers tiers;
    private final WriterOptions options;
    private final PartHosts hosts;
    private final TierRetention retention;
    private final Damage damage;
    private final CheckpointNumbers numbers;
    private final Duration timeout;
    private final Thread thread;
    /** A checkpoint came since the thread last looked. Guarded by this. */
    private boolean asked;
    /**
     * A checkpoint came in this incarnation. Before, nothing is removed: the job may still read memory from an older
     * one.
     */
    private boolean prunes;
    private boolean closing;
    private volatile boolean waitedFor;
    private volatile boolean givenUp;
    private volatile TierFlushState state = TierFlushState.IDLE;
    private long overtaken;

    private TierFlush(Tiers tiers, WriterOptions options, PartHosts hosts, int keep, int keepFast, Duration timeout) {
        this.tiers = tiers;
        this.options = options;
        this.hosts = hosts;
        this.damage = new Damage();
        this.retention = new TierRetention(tiers, options.key(), options.storage(), keep, keepFast, damage);
        this.numbers =
                new CheckpointNumbers(tiers, options.key(), options.storage(), NUMBER_GRACE, InstantSource.system());
        this.timeout = timeout;
        this.thread = Thread.ofPlatform().daemon().name("drain").unstarted(this::run);
    }

    /** As the other one, of tiers that all hosts share. */
    public static TierFlush start(Tiers tiers, WriterOptions options, int keep, int keepFast, Duration timeout) {
        return start(tiers, options, keep, keepFast, timeout, PartHosts.NONE);
    }

    /**
     * Begins to copy what an earlier incarnation has left on fast.
     *
     * @param options of the images that are copied: key, rate, priority
     * @param keep on slow; 0: all
     * @param keepFast on fast, at least 1
     * @param timeout how long {@link #close} waits for the newest copy
     * @param hosts    who has what is on fast, where that is each host's own
     */
    public static TierFlush start(Tiers tiers, WriterOptions options, int keep, int keepFast, Duration timeout,
            PartHosts hosts) {
        TierFlush flush = new TierFlush(tiers, options, hosts, keep, keepFast, timeout);
        flush.asked = true;
        flush.thread.start();
        return flush;
    }

    public TierFlushState state() {
        return state;
    }

    /** What it finds to be wrong with checkpoints that it reads. */
    public Damage damage() {
        return damage;
    }

    /** Its part of {@code status --json}. */
    public void describe(ObjectNode node) {
        state.describe(node.put("tiers", tiers.format()));
    }

    /**
     * To be called before a checkpoint gets its number, which slow must not have. Waits for slow two seconds at most.
     */
    public void beforeNumber() throws IOException {
        numbers.beforeNext();
    }

    /** A checkpoint is complete on fast. */
    public synchronized void ask() {
        asked = true;
        prunes = true;
        notifyAll();
    }

    /**
     * Another incarnation of the job follows, and will copy what is not copied yet: {@link #close} does not wait for
     * it.
     */
    public void leaveToNextRun() {
        givenUp = true;
    }

    private void run() {
        try {
            if (options.courtesy().background()) {
                BackgroundThread.become();
            }
            begin();
            while (awaitAsked()) {
                drainNewest();
            }
        } catch (InterruptedException | IOException | RuntimeException e) {
            Failure failure = Failure.of("checkpoints are no longer copied to " + tiers.slow().path(), e);
            Messages.error(failure.getMessage(), failure);
            state = state.failed(failure.getMessage());
        }
    }

    private void begin() {
        try {
            numbers.follow();
        } catch (IOException | RuntimeException e) {
            Messages.warn(Failure.of(tiers.slow().path() + " could not be read", e).getMessage()
                    + "; trying again at the next checkpoint");
        }
    }

    /** False: closed, and nothing is due. */
    private synchronized boolean awaitAsked() throws InterruptedException {
        while (!asked && !closing) {
            wait();
        }
        boolean due = asked;
        asked = false;
        return due;
    }

    private void drainNewest() {
        try {
            tiers.refuseSame();
            List<TieredCatalogue.Entry> entries =
                    new TieredCatalogue(List.of(tiers.fast()), options.key()).list().entries();
            List<TieredCatalogue.Entry> complete = entries.stream()
                    .filter(entry -> entry.completeIn(tiers.fast()) && hosts.owns(entry.best().entry())).toList();
            if (complete.isEmpty()) {
                return;
            }
            Catalogue.Entry newest = complete.getLast().best().entry();
            state = state.begun(newest.name());
            sayOvertaken(complete, newest);
            copy(newest);
        } catch (CancellationException e) {
            Messages.warn(state.copying() + " is only on " + tiers.fast().path() + ": its copy to "
                    + tiers.slow().path() + " was abandoned");
            state = state.failed("abandoned");
        } catch (IOException | RuntimeException e) {
            Failure failure = Failure.of("copying " + state.copying() + " to " + tiers.slow().path(), e);
            Messages.error(failure.getMessage() + "; it stays on " + tiers.fast().path() + (isClosing() ? ""
                    : ", and the job goes on; trying again at the next checkpoint"), failure);
            state = state.failed(failure.getMessage());
        }
        if (mayPrune()) {
            prune();
        }
    }

    private synchronized boolean isClosing() {
        return closing;
    }

    private synchronized boolean mayPrune() {
        return prunes;
    }

    private void copy(Catalogue.Entry newest) throws IOException {
        numbers.follow();
        try {
            new TierCopy(tiers, options, hosts, () -> givenUp).copy(newest, watch());
        } catch (ImageError.Corrupt | ImageError.Missing e) {
            // read back, it is not what was written, or what it is based on is not
            damage.found(e);
            throw e;
        }
    }

    private TierCopy.Watch watch() {
        return new TierCopy.Watch() {
            @Override
            public void begun(String name) {
                state = state.begun(name);
            }

            @Override
            public void copied(long done, long total) {
                state = state.copied(done, total);
            }

            @Override
            public void succeeded() {
                state = state.succeeded();
            }
        };
    }

    /** Each is said once. */
    private void sayOvertaken(List<TieredCatalogue.Entry> complete, Catalogue.Entry newest) throws IOException {
        List<TieredCatalogue.Entry> there = tiers.catalogue(options.key()).list().entries();
        long drained =
                there.stream().filter(entry -> entry.completeIn(tiers.slow()) && hosts.owns(entry.best().entry()))
                        .mapToLong(TieredCatalogue.Entry::id).max().orElse(0);
        for (TieredCatalogue.Entry entry : complete) {
            if (entry.id() > Math.max(overtaken, drained) && entry.id() < newest.id()) {
                Messages.info(entry.name() + " is not copied to " + tiers.slow().path() + ": " + newest.name()
                        + " was complete before its copy started");
                overtaken = entry.id();
            }
        }
    }

    /** A failure to prune one tier does not keep the other from it. */
    private void prune() {
        try {
            retention.pruneFast(hosts);
        } catch (IOException | RuntimeException e) {
            Messages.error(Failure.of("old checkpoints stay on " + tiers.fast().path(), e).getMessage(), e);
        }
        if (state.problem().isEmpty()) {
            try {
                retention.pruneSlow(hosts);
            } catch (IOException | RuntimeException e) {
                Messages.error(Failure.of("old checkpoints stay on " + tiers.slow().path(), e).getMessage(), e);
            }
        }
    }

    /** Waits until the newest checkpoint is copied, but no longer than the timeout. */
    @Override
    public void close() throws InterruptedException {
        synchronized (this) {
            if (waitedFor) {
                return;
            }
            // no checkpoint comes any more at which it would be tried again
            asked |= !closing && !givenUp && !state.problem().isEmpty();
            closing = true;
            notifyAll();
        }
        if (!thread.join(BRIEFLY)) {
            TierFlushState now = state;
            Messages.info("the job has ended; " + (now.copying().isEmpty() ? "its last checkpoint" : now.copying())
                    + " is still being copied to " + tiers.slow().path()
                    + (now.total() == 0 ? "" : " (" + Durations.bytes(now.done()) + " of "
                            + Durations.bytes(now.total()) + ")")
                    + ", for " + Durations.format(timeout.toNanos()) + " at most");
            if (!thread.join(timeout)) {
                givenUp = true;
                if (!thread.join(GIVING_UP)) {
                    Messages.error(tiers.slow().path() + " does not respond: the incomplete copy there is left in "
                            + "place", null);
                }
            }
        }
        waitedFor = true;
    }
}
