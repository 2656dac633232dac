package org.udckpt.store.tiers;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.store.Tiers;
import org.udckpt.support.report.Messages;

/**
 * The numbers of checkpoints, which are given out on fast and are unique over both tiers. Where fast was lost it would
 * begin anew with 1, which slow has: so slow is looked at first. A checkpoint does not wait for a slow tier that does
 * not answer: its number is then the clock's, in seconds since 1970, which nobody has given out before. Thread-safe.
 */
final class CheckpointNumbers {
    private final Tiers tiers;
    private final ImageKey key;
    private final StorageIo storage;
    private final Duration grace;
    private final InstantSource clock;
    /** Open once slow was asked, whatever it said. */
    private final CountDownLatch asked = new CountDownLatch(1);
    /** In this incarnation, fast gives out no number that slow has. */
    private volatile boolean unique;

    /** @param grace how long the first checkpoint waits for slow's answer */
    CheckpointNumbers(Tiers tiers, ImageKey key, StorageIo storage, Duration grace, InstantSource clock) {
        this.tiers = tiers;
        this.key = key;
        this.storage = storage;
        this.grace = grace;
        this.clock = clock;
    }

    /** Numbers on fast go on after those of slow. Takes as long as slow takes. */
    void follow() throws IOException {
        try {
            Catalogue fast = new Catalogue(tiers.fast().path(), key, storage);
            boolean there = storage.hasDirectory(tiers.slow().path());
            long given = there ? new Catalogue(tiers.slow().path(), key, storage).latest() : 0;
            if (given > 0) {
                makeParent();
                raise(fast, given);
            }
            // A new job has neither; but where fast has numbers and slow is not there, it may be away.
            if (there || fast.latest() == 0) {
                unique = true;
            }
        } finally {
            asked.countDown();
        }
    }

    private void raise(Catalogue fast, long given) throws IOException {
        try {
            fast.raise(given);
        } catch (IOException e) {
            throw new IOException("numbers on " + tiers.fast().path() + ": " + e.getMessage(), e);
        }
    }

    /** To be called before a number is given out on fast. */
    void beforeNext() throws IOException {
        if (unique || answered() && unique) {
            return;
        }
        makeParent();
        new Catalogue(tiers.fast().path(), key, storage).raise(clock.instant().getEpochSecond());
        unique = true;
        Messages.warn(tiers.slow().path() + " could not be read: checkpoint numbers are taken from the clock from "
                + "now on, to avoid numbers that are used there");
    }

    /** Not where each host has the fast one for itself: what it is in is there, or a disk is missing. */
    private void makeParent() throws IOException {
        if (!tiers.local()) {
            storage.makeDirectories(tiers.fast().path().getParent());
        }
    }

    private boolean answered() throws IOException {
        try {
            return asked.await(grace.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while " + tiers.slow().path() + " was read", e);
        }
    }
}
