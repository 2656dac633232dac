package org.udckpt.store;

import java.io.IOException;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.BackgroundThread;
import org.udckpt.image.storage.Courtesy;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** How the settings want a job's images written. */
public final class ImageOptions {
    private ImageOptions() {}

    /**
     * Before a job is started: every value and key is read, and 69 where the system does not allow what is asked for.
     * Nothing is made.
     */
    public static void check(Settings settings) {
        of(settings, Keys.user(settings));
        if (settings.truth(Option.IO_IDLE)) {
            tryBackground();
        }
    }

    /** For all images of a job: they share one limit of the rate. */
    public static WriterOptions of(Settings settings) {
        return of(settings, Keys.writer(settings));
    }

    private static WriterOptions of(Settings settings, ImageKey key) {
        long rate = settings.bytes(Option.MAX_RATE, 0);
        Courtesy courtesy =
                new Courtesy(rate == 0 ? RateLimit.NONE : RateLimit.of(rate), settings.truth(Option.IO_IDLE));
        return WriterOptions.of(key).withStorage(ImageTrust.storage(settings)).withForm(FormSettings.of(settings))
                .withBufferBytes(settings.bytes(Option.BUFFER, Settings.SMALLEST_BUFFER)).withCourtesy(courtesy)
                .withVerify(settings.truth(Option.VERIFY_TRACKING));
    }

    /** Whether checkpoints are to know what was written between them. */
    public static boolean tracked(Settings settings) {
        return FormSettings.fullEvery(settings) > 1
                && (settings.truth(Option.WRITE_TRACKING) || settings.truth(Option.VERIFY_TRACKING));
    }

    /** In a thread of its own, which keeps the priorities. */
    private static void tryBackground() {
        Failure[] failure = new Failure[1];
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                BackgroundThread.become();
            } catch (IOException e) {
                failure[0] = new Failure(ExitCode.UNSUPPORTED, "--io-idle: " + e.getMessage()
                        + "; leave it out, or allow it (a container's seccomp rules may forbid it)", e);
            }
        });
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of("trying --io-idle", e);
        }
        if (failure[0] != null) {
            throw failure[0];
        }
    }
}
