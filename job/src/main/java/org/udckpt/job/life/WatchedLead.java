package org.udckpt.job.life;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.job.launch.RawText;
import org.udckpt.job.metrics.Watched;
import org.udckpt.job.report.WriteProgress;
import org.udckpt.job.tiers.Drain;
import org.udckpt.job.tiers.DrainState;

/** The metrics of a job on several hosts: what its ranks have counted comes from their agents, some seconds late. */
record WatchedLead(LeadLife lead, Path directory, Optional<Drain> tiers) implements Watched {
    @Override
    public String name() {
        return lead.job().name();
    }

    @Override
    public List<String> command() {
        return lead.job().command().stream().map(RawText::shown).toList();
    }

    @Override
    public int generation() {
        return lead.job().generation();
    }

    @Override
    public String state() {
        return lead.checkpoints().state();
    }

    @Override
    public Optional<WriteProgress> writing() {
        return lead.checkpoints().writing();
    }

    @Override
    public Optional<DrainState> drain() {
        return tiers.map(Drain::state);
    }

    @Override
    public long ranks() {
        return lead.counted().ranks();
    }

    @Override
    public long missing() {
        return lead.counted().missing();
    }

    @Override
    public Counters messages() {
        return lead.counted().messages();
    }
}
