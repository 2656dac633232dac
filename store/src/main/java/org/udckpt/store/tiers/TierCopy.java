package org.udckpt.store.tiers;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.CheckpointCopy;
import org.udckpt.image.catalogue.TieredCatalogue;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.store.Tiers;
import org.udckpt.support.report.Messages;

/** Copies checkpoints of the fast tier to the slow one, each behind those that it is based on. For one thread. */
public final class TierCopy {
    /** Observes a copy. */
    public interface Watch extends CheckpointCopy.Progress {
        /** Ignores everything. */
        Watch NONE = new Watch() {
            @Override
            public void begun(String name) {}

            @Override
            public void copied(long done, long total) {}

            @Override
            public void succeeded() {}
        };

        void begun(String name);

        void succeeded();
    }

    private final Tiers tiers;
    private final WriterOptions options;
    private final PartHosts hosts;
    private final BooleanSupplier givenUp;

    /**
     * @param options of the images: key, rate
     * @param hosts   are asked where each has the fast tier for itself
     * @param givenUp asked often; once it says so the copy ends
     */
    public TierCopy(Tiers tiers, WriterOptions options, PartHosts hosts, BooleanSupplier givenUp) {
        this.tiers = tiers;
        this.options = options;
        this.hosts = hosts;
        this.givenUp = givenUp;
    }

    /**
     * Returns when it is complete on slow, with all that it is based on.
     *
     * @throws CancellationException when it was given up
     */
    public void copy(Catalogue.Entry checkpoint, Watch watch) throws IOException {
        tiers.refuseSame();
        options.storage().makeDirectories(tiers.slow().path().getParent());
        if (options.storage().hasDirectory(tiers.slow().path())) {
            new Catalogue(tiers.slow().path(), options.key(), options.storage()).clean()
                    .forEach(entry -> Messages.info("removed " + entry.directory() + ", an interrupted copy"));
        }
        List<TieredCatalogue.Entry> all = tiers.catalogue(options.key()).list().entries().stream()
                .filter(entry -> entry.best().entry().manifest() != null).toList();
        requireSame(all, checkpoint);
        Set<Long> needed =
                Catalogue.withBases(all.stream().map(entry -> entry.best().entry()).toList(), Set.of(checkpoint.id()));
        for (TieredCatalogue.Entry entry : all) { // a base is older
            if (needed.contains(entry.id()) && !entry.completeIn(tiers.slow())) {
                if (givenUp.getAsBoolean()) {
                    throw new CancellationException("the job has ended");
                }
                watch.begun(entry.name());
                new CheckpointCopy(entry.best().entry().directory(), tiers.slow().path(), options.key(),
                        options.courtesy().rate(), givenUp, options.storage()).run(watch, hosts);
                watch.succeeded();
            }
        }
    }

    /**
     * Where each host has the fast tier for itself, two leads on two machines may have given out one number: see
     * {@link TieredCatalogue}.
     */
    private void requireSame(List<TieredCatalogue.Entry> all, Catalogue.Entry checkpoint) throws IOException {
        for (TieredCatalogue.Entry entry : all) {
            if (entry.id() == checkpoint.id() && !entry.best().entry().manifest().equals(checkpoint.manifest())) {
                throw new IOException(tiers.slow().path() + " has a different checkpoint with this number, taken by "
                        + "a job on another machine: give each job its own slow directory");
            }
        }
    }
}
