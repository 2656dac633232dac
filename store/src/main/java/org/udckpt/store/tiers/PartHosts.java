package org.udckpt.store.tiers;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.CheckpointCopy;
import org.udckpt.image.manifest.HostParts;

/**
 * What a flush asks of a job's hosts, where each has the parts of its own nodes on a fast tier for itself. From the
 * flush's thread.
 */
public interface PartHosts extends CheckpointCopy.Hosts {
    /** There are none: what is on fast is there as a whole, and all of one job. */
    PartHosts NONE = none(_ -> true);

    /** The same where others' checkpoints may be there. @param owned says of a complete one whether it is this job's */
    static PartHosts none(Predicate<Catalogue.Entry> owned) {
        return new PartHosts() {
            @Override
            public void copy(CheckpointCopy.Order order, CheckpointCopy.Progress done) throws IOException {
                CheckpointCopy.Hosts.NONE.copy(order, done);
            }

            @Override
            public Optional<HostParts> own() {
                return Optional.empty();
            }

            @Override
            public boolean owns(Catalogue.Entry complete) {
                return owned.test(complete);
            }

            @Override
            public void stay(long newest, Set<Long> checkpoints) {}
        };
    }

    /** Where the hosts of this job have its parts; another job's are not its to remove. */
    Optional<HostParts> own();

    /**
     * Whether a complete checkpoint, in whichever tier, is of the job whose hosts they are: another's is not its to
     * copy or remove.
     */
    boolean owns(Catalogue.Entry complete);

    /**
     * Has all parts removed of this job's checkpoints until {@code newest} that do not stay; returns at once. A host
     * that does not hear of it removes them another time.
     *
     * @param newest the number of the newest checkpoint of this job that is complete
     */
    void stay(long newest, Set<Long> checkpoints);

    /** The parts of a job's hosts. @param fast where each host has its own, by the same name */
    static HostParts parts(Path fast, String job) {
        return new HostParts(fast.resolve(job));
    }
}
