package org.udckpt.store.tiers;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.TieredCatalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.store.Damage;
import org.udckpt.store.Tiers;

/**
 * Which checkpoints stay in which tier. On slow the newest {@code keep} (0: all); on fast the newest {@code keepFast},
 * and those that are newer than all on slow, though of these no more than {@code keep}: a slow tier that fails must not
 * fill the fast one. What one that stays is based on stays with it. Other jobs' checkpoints neither count nor go.
 */
final class TierRetention {
    private final Tiers tiers;
    private final ImageKey key;
    private final StorageIo storage;
    private final int keep;
    private final int keepFast;
    private final Damage damage;

    /**
     * @param keepFast at least 1
     * @param damage   is told when the newest of a tier turns out to be damaged
     */
    TierRetention(Tiers tiers, ImageKey key, StorageIo storage, int keep, int keepFast, Damage damage) {
        this.tiers = tiers;
        this.key = key;
        this.storage = storage;
        this.keep = keep;
        this.keepFast = keepFast;
        this.damage = damage;
    }

    /**
     * After a copy to slow: reads the newest there whole before anything goes, but where hosts have copied it, each of
     * which has read its share of it back.
     */
    void pruneSlow(PartHosts hosts) throws IOException {
        if (keep == 0) {
            return;
        }
        Catalogue slow = new Catalogue(tiers.slow().path(), key, storage);
        if (hosts.own().isEmpty()) {
            slow.prune(keep, hosts::owns, newest -> damage.readWhole(newest.directory(), key));
            return;
        }
        List<Catalogue.Entry> own = complete(slow, hosts);
        if (own.size() > keep) {
            slow.removeAllBut(now -> {
                Set<Long> stay = others(now, hosts);
                stay.addAll(Catalogue.newest(now.stream().filter(hosts::owns).toList(), keep));
                return stay;
            }, own.getLast().id());
        }
    }

    private static List<Catalogue.Entry> complete(Catalogue tier, PartHosts hosts) throws IOException {
        return tier.list().stream().filter(entry -> entry.state() == Catalogue.State.COMPLETE && hosts.owns(entry))
                .toList();
    }

    /** The ids of what is another job's. */
    private static Set<Long> others(List<Catalogue.Entry> complete, PartHosts hosts) {
        return complete.stream().filter(entry -> !hosts.owns(entry)).map(Catalogue.Entry::id)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Removes from fast what need not be there. @param hosts are told where each has its own */
    void pruneFast(PartHosts hosts) throws IOException {
        removeFromFast(hosts);
        if (hosts.own().isEmpty()) {
            return;
        }
        Set<Long> stay = new TreeSet<>();
        for (Catalogue.Entry entry : new Catalogue(tiers.fast().path(), key, storage).list()) {
            if (entry.onHosts() && HostParts.of(entry.directory(), storage).equals(hosts.own())) {
                stay.add(entry.id());
            }
        }
        if (!stay.isEmpty()) {
            hosts.stay(Collections.max(stay), stay);
        }
    }

    /** Returns what went. */
    private List<Catalogue.Entry> removeFromFast(PartHosts hosts) throws IOException {
        tiers.refuseSame();
        List<TieredCatalogue.Entry> all = tiers.catalogue(key).list().entries();
        long drained = all.stream().filter(entry -> entry.completeIn(tiers.slow()) && hosts.owns(entry.best().entry()))
                .mapToLong(TieredCatalogue.Entry::id).max().orElse(0);
        Catalogue fast = new Catalogue(tiers.fast().path(), key, storage);
        List<Catalogue.Entry> complete = complete(fast, hosts);
        if (complete.isEmpty()) {
            return List.of();
        }
        Catalogue.Entry newest = complete.getLast();
        Set<Long> stays = Catalogue.withBases(complete, stays(complete, drained));
        if (!newest.onHosts()
                && complete.stream().anyMatch(entry -> entry.id() > drained && !stays.contains(entry.id()))) {
            // The last good checkpoint is never lost: none goes before a newer one has been read whole, as each copy on
            // slow was. What only its hosts
            // have is read there, when it is copied.
            damage.readWhole(newest.directory(), key);
        }
        return fast.removeAllBut(now -> {
            Set<Long> stay = stays(now.stream().filter(hosts::owns).toList(), drained);
            stay.addAll(stays);
            stay.addAll(others(now, hosts));
            // came meanwhile: nobody has read it whole
            now.stream().map(Catalogue.Entry::id).filter(id -> id > newest.id()).forEach(stay::add);
            return stay;
        }, newest.id());
    }

    /** Ids of the checkpoints that stay for their own sake. @param drained the newest on slow */
    private Set<Long> stays(List<Catalogue.Entry> complete, long drained) {
        Set<Long> stays = new TreeSet<>(Catalogue.newest(complete, keepFast));
        Set<Long> mayWait = keep == 0 ? Set.of() : Catalogue.newest(complete, keep);
        complete.stream().map(Catalogue.Entry::id).filter(id -> id > drained && (keep == 0 || mayWait.contains(id)))
                .forEach(stays::add);
        return stays;
    }
}
