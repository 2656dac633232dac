package org.udckpt.job.life;

import java.io.IOException;
import java.util.HashSet;
import java.util.Optional;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.TieredCatalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.job.config.Settings;
import org.udckpt.job.nodes.NodeJob;
import org.udckpt.job.nodes.NodesRequest;
import org.udckpt.job.report.Durations;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.ImageOptions;
import org.udckpt.job.store.Keys;
import org.udckpt.job.store.Tiers;
import org.udckpt.job.tiers.TierCopy;

/**
 * Before a restart: a checkpoint that was not copied to the slow tier in its life, and of which each host still has its part for itself, is copied by agents
 * on those hosts, without ranks.
 */
public final class FromHosts {
    private FromHosts() {}

    /**
     * @param tiers    in which it is; empty: in none, as far as is known
     * @param location what is to be restarted
     * @param named    the user wants this one, and no other
     * @return where it can be read as a whole: the same where it was
     * @throws Failure naming the host that does not have its part any more, or cannot be reached, where that leaves nothing
     */
    public static ImageLocation bring(Settings settings, NodesRequest nodes, Optional<Tiers> tiers, ImageLocation location, boolean named) throws InterruptedException {
        return location.entry().onHosts() && tiers.isPresent() ? bring(settings, nodes, tiers.get(), location, named) : location;
    }

    private static ImageLocation bring(Settings settings, NodesRequest nodes, Tiers tiers, ImageLocation location, boolean named) throws InterruptedException {
        try {
            copy(settings, nodes, tiers, location);
            return onSlow(settings, tiers, location.entry(), location.entry().id()).filter(copy -> copy.entry().manifest().equals(location.entry().manifest()))
                    .orElseThrow(() -> new Failure(ExitCode.INTERNAL, "the copy in " + tiers.slow().path() + " is not there"));
        } catch (Failure failure) {
            Optional<ImageLocation> before = onSlow(settings, tiers, location.entry(), Long.MAX_VALUE);
            String what = location.entry().name() + " is on its hosts only, and cannot be had from them: " + failure.getMessage();
            if (named || before.isEmpty()) {
                throw new Failure(failure.code(), what + before.map(other -> "; " + other.entry().directory() + " can be restarted").orElse(""), failure);
            }
            Messages.warn(what + "; going on from " + before.get().entry().directory());
            return before.get();
        }
    }

    /** The newest complete one of the same job on slow that is not newer. */
    private static Optional<ImageLocation> onSlow(Settings settings, Tiers tiers, Catalogue.Entry of, long newest) {
        String job = of.manifest().labels().getOrDefault(Draining.JOB, "");
        ImageKey key = Keys.user(settings);
        return ImageLocation.list(tiers, key).stream().filter(entry -> entry.id() <= newest && entry.completeIn(tiers.slow()))
                .flatMap(entry -> entry.places().stream()).filter(place -> place.tier().equals(tiers.slow())).map(TieredCatalogue.Place::entry)
                .filter(entry -> entry.manifest().labels().getOrDefault(Draining.JOB, "").equals(job))
                .map(entry -> new ImageLocation(entry.directory().getParent(), entry)).reduce((_, later) -> later);
    }

    private static void copy(Settings settings, NodesRequest nodes, Tiers tiers, ImageLocation location) throws InterruptedException {
        Catalogue.Entry entry = location.entry();
        NodeJob job = asItWas(settings, nodes, location);
        Messages.info(entry.name() + " is on its hosts only (" + Durations.bytes(entry.manifest().storedBytes()) + "): they copy it to " + tiers.slow().path() + " first");
        UnitCopies copies = new UnitCopies(job.units(), Optional.empty());
        LeadLife agents = LeadLife.gather(settings, nodes.starter(), job, copies, new HashSet<>());
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
            return SeveralImage.read(location, reader).asItWas(nodes.fanOut());
        } catch (IOException e) {
            throw Failure.of("reading " + location.entry().directory(), e);
        }
    }
}
