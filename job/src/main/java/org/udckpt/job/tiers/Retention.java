package org.udckpt.job.tiers;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.TieredCatalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.job.store.Tiers;

/**
 * Which checkpoints stay in which tier. On slow the newest {@code keep} (0: all); on fast the newest {@code keepFast}, and those
 * that are newer than all on slow, though of these no more than {@code keep}: a slow tier that fails must not fill the fast one.
 * What one that stays is based on stays with it.
 */
final class Retention {
    private final Tiers tiers;
    private final ImageKey key;
    private final int keep;
    private final int keepFast;

    /** @param keepFast at least 1 */
    Retention(Tiers tiers, ImageKey key, int keep, int keepFast) {
        this.tiers = tiers;
        this.key = key;
        this.keep = keep;
        this.keepFast = keepFast;
    }

    /** After a copy to slow: reads the newest there whole before anything goes. */
    void pruneSlow() throws IOException {
        if (keep > 0) {
            new Catalogue(tiers.slow().path(), key).prune(keep);
        }
    }

    /** Removes from fast what need not be there; returns what went. */
    List<Catalogue.Entry> pruneFast() throws IOException {
        tiers.refuseSame();
        List<TieredCatalogue.Entry> all = tiers.catalogue(key).list().entries();
        long drained = all.stream().filter(entry -> entry.completeIn(tiers.slow())).mapToLong(TieredCatalogue.Entry::id).max().orElse(0);
        Catalogue fast = new Catalogue(tiers.fast().path(), key);
        List<Catalogue.Entry> complete = fast.list().stream().filter(entry -> entry.state() == Catalogue.State.COMPLETE).toList();
        Set<Long> stays = new TreeSet<>();
        for (int i = 0; i < complete.size(); i++) {
            int newer = complete.size() - 1 - i;
            boolean waits = complete.get(i).id() > drained && (keep == 0 || newer < keep);
            if (newer < keepFast || waits) {
                stays.add(complete.get(i).id());
            }
        }
        Set<Long> needed = Catalogue.withBases(complete, stays);
        List<Catalogue.Entry> goes = complete.stream().filter(entry -> !needed.contains(entry.id())).toList();
        if (goes.stream().anyMatch(entry -> entry.id() > drained)) {
            verify(complete.getLast());
        }
        for (Catalogue.Entry entry : goes.reversed()) { // what is based on an older one goes before it
            fast.remove(entry);
        }
        return goes;
    }

    /** The last good checkpoint is never lost: none goes before a newer one has been read whole, as each copy on slow was. */
    private void verify(Catalogue.Entry newest) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(newest.directory(), key)) {
            reader.verify((done, total) -> { });
        }
    }
}
