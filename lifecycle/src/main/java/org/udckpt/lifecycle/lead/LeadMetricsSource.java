package org.udckpt.lifecycle.lead;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.lifecycle.metrics.MetricsSource;
import org.udckpt.linux.RawText;
import org.udckpt.store.tiers.TierFlush;
import org.udckpt.store.tiers.TierFlushState;
import org.udckpt.support.report.WriteProgress;

/** The metrics of a job on several hosts: what its ranks have counted comes from their agents, some seconds late. */
public record LeadMetricsSource(LeadRun lead, Path directory, Optional<TierFlush> tiers) implements MetricsSource {
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
    public Optional<TierFlushState> flush() {
        return tiers.map(TierFlush::state);
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
