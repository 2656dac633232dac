package org.udckpt.lifecycle.checkpoint;

import java.util.Map;
import org.udckpt.agent.Job;
import org.udckpt.image.write.PageHistory;
import org.udckpt.process.tracking.WriteTracking;
import org.udckpt.store.ImageOptions;
import org.udckpt.support.config.Option;
import org.udckpt.support.report.Messages;

/** Has the kernel note what a job's processes write to, where its settings ask for that. */
final class Tracking {
    private Tracking() {}

    /** Where that is not possible, checkpoints read all memory; a user who has asked for it is told once. */
    static void start(Job job) {
        if (!ImageOptions.tracked(job.settings())) {
            return;
        }
        WriteTracking writes = WriteTracking.ifAvailable();
        if (writes.on()) {
            job.track(writes);
        } else if (job.settings().given().containsKey(Option.WRITE_TRACKING)
                || job.settings().truth(Option.VERIFY_TRACKING)) {
            Messages.warn("--write-tracking: this kernel does not say what was written (it takes Linux 6.7 and "
                    + "userfaultfd(2)), so that checkpoints read all memory");
        }
    }

    /**
     * A checkpoint is complete.
     *
     * @param numbers of its processes in it
     * @param pages what it holds; null: the next one needs nothing of it
     */
    static void committed(Job job, long checkpoint, Map<Long, Integer> numbers, PageHistory pages) {
        job.tracking().committed(checkpoint, numbers, pages == null ? _ -> new long[0] : pages::older);
    }
}
