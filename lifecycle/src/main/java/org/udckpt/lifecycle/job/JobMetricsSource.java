package org.udckpt.lifecycle.job;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.agent.Job;
import org.udckpt.lifecycle.checkpoint.CheckpointQueue;
import org.udckpt.lifecycle.metrics.MetricsSource;
import org.udckpt.store.tiers.TierFlush;
import org.udckpt.store.tiers.TierFlushState;
import org.udckpt.support.report.WriteProgress;

/** The metrics of a job whose only agent this process is. */
record JobMetricsSource(Job job, CheckpointQueue checkpoints, Optional<TierFlush> tiers) implements MetricsSource {
    @Override
    public String name() {
        return job.facts().name();
    }

    @Override
    public Path directory() {
        return job.imageDirectory();
    }

    @Override
    public List<String> command() {
        return job.facts().command();
    }

    @Override
    public int generation() {
        return job.facts().generation();
    }

    @Override
    public String state() {
        return checkpoints.state();
    }

    @Override
    public Optional<WriteProgress> writing() {
        return checkpoints.writing();
    }

    @Override
    public Optional<TierFlushState> flush() {
        return tiers.map(TierFlush::state);
    }

    @Override
    public long ranks() {
        return job.jobRanks().all().stream().filter(rank -> rank.alive()).count();
    }

    @Override
    public long missing() {
        return job.filling().missing();
    }

    @Override
    public Counters messages() {
        return Counters.sum(job.counted());
    }
}
