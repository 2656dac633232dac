package org.udckpt.lifecycle;

import java.io.IOException;
import java.util.HashSet;
import java.util.Optional;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.NodesRequest;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.TieredCatalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.lifecycle.job.JobStorage;
import org.udckpt.lifecycle.lead.LeadRun;
import org.udckpt.lifecycle.lead.UnitCopies;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.ImageOptions;
import org.udckpt.store.Keys;
import org.udckpt.store.Tiers;
import org.udckpt.store.tiers.TierCopy;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * Before a restart: a checkpoint that was not copied to the slow tier in its incarnation, and of which each host still
 * has its part for itself, is copied by agents on those hosts, without ranks.
 */
public final class FastTierRecovery {
    private FastTierRecovery() {}

    /**
     * @param tiers in which it is; empty: in none, as far as is known
     * @param location what is to be restarted
     * @param named the user wants this one, and no other
     * @return where it can be read as a whole: the same where it was
     * @throws Failure naming the host that does not have its part any more, or cannot be reached, where that leaves
     *     nothing
     */
    public static ImageLocation bring(Settings settings, NodesRequest nodes, Optional<Tiers> tiers,
            ImageLocation location, boolean named) throws InterruptedException {
        return location.entry().onHosts() && tiers.isPresent() ? bring(settings, nodes, tiers.get(), location, named)
                : location;
    }

    private static ImageLocation bring(Settings settings, NodesRequest nodes, Tiers tiers, ImageLocation location,
            boolean named) throws InterruptedException {
        try {
            copy(settings, nodes, tiers, location);
            return onSlow(settings, tiers, location.entry(), location.entry().id())
                    .filter(copy -> copy.entry().manifest().equals(location.entry().manifest()))
                    .orElseThrow(() -> new Failure(ExitCode.INTERNAL, "the copy in " + tiers.slow().path()
                            + " is missing"));
        } catch (Failure failure) {
            Optional<ImageLocation> before = onSlow(settings, tiers, location.entry(), Long.MAX_VALUE);
            String what = location.entry().name() + " is only on its hosts, and they could not copy it: "
                    + failure.getMessage();
            if (named || before.isEmpty()) {
                throw new Failure(failure.code(),
                        what + before.map(other -> "; " + other.entry().directory() + " can be restarted").orElse(""),
                        failure);
            }
            Messages.warn(what + "; restarting from " + before.get().entry().directory());
            return before.get();
        }
    }

    /** The newest complete one of the same job on slow that is not newer. */
    private static Optional<ImageLocation> onSlow(Settings settings, Tiers tiers, Catalogue.Entry of, long newest) {
        String job = of.manifest().labels().getOrDefault(JobStorage.JOB, "");
        ImageKey key = Keys.user(settings);
        return ImageLocation.list(tiers, key).stream()
                .filter(entry -> entry.id() <= newest && entry.completeIn(tiers.slow()))
                .flatMap(entry -> entry.places().stream()).filter(place -> place.tier().equals(tiers.slow()))
                .map(TieredCatalogue.Place::entry)
                .filter(entry -> entry.manifest().labels().getOrDefault(JobStorage.JOB, "").equals(job))
                .map(entry -> new ImageLocation(entry.directory().getParent(), entry)).reduce((_, later) -> later);
    }

    private static void copy(Settings settings, NodesRequest nodes, Tiers tiers, ImageLocation location)
            throws InterruptedException {
        Catalogue.Entry entry = location.entry();
        NodeJob job = asItWas(settings, nodes, location);
        Messages.info(entry.name() + " is only on its hosts (" + Durations.bytes(entry.manifest().storedBytes())
                + "): they first copy it to " + tiers.slow().path());
        UnitCopies copies = new UnitCopies(job.units(), Optional.empty());
        LeadRun agents = LeadRun.gather(settings, nodes.starter(), job, copies, new HashSet<>());
        try {
            new TierCopy(tiers, ImageOptions.of(settings), copies, () -> false).copy(entry, TierCopy.Watch.NONE);
        } catch (IOException e) {
            throw Failure.of("copying " + entry.name() + " to " + tiers.slow().path(), e);
        } finally {
            agents.disband();
        }
    }

    private static NodeJob asItWas(Settings settings, NodesRequest nodes, ImageLocation location) {
        try (CheckpointReader reader = location.openJob(Keys.user(settings))) {
            return MultiHostImage.read(location, reader).asItWas(nodes.fanOut());
        } catch (IOException e) {
            throw Failure.of("reading " + location.entry().directory(), e);
        }
    }
}
