package org.udckpt.lifecycle.metrics;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.store.tiers.TierFlushState;
import org.udckpt.support.report.WriteProgress;

/** A job whose metrics are told, as it is at the moment. From any thread. */
public interface MetricsSource {
    String name();

    /** The directory of its checkpoints. */
    Path directory();

    /** Words, the program first. */
    List<String> command();

    /** The generation of its incarnation. */
    int generation();

    /** "running", or the phase of the checkpoint under way, in lower case. */
    String state();

    /** How far the image is that is being written. */
    Optional<WriteProgress> writing();

    /** The state of the copies to the slow tier; empty without tiers. */
    Optional<TierFlushState> flush();

    /** How many are alive. */
    long ranks();

    /** Bytes of a restarted job's memory that still come in. */
    long missing();

    /** Counters of all its ranks, in this incarnation. */
    Counters messages();
}
