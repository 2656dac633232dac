package org.udckpt.job.life;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.job.agent.Job;
import org.udckpt.job.checkpoint.CheckpointQueue;
import org.udckpt.job.metrics.Watched;
import org.udckpt.job.report.WriteProgress;
import org.udckpt.job.tiers.Drain;
import org.udckpt.job.tiers.DrainState;

/** The metrics of a job whose only agent this process is. */
record WatchedJob(Job job, CheckpointQueue checkpoints, Optional<Drain> tiers) implements Watched {
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
    public Optional<DrainState> drain() {
        return tiers.map(Drain::state);
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
