package org.udckpt.job.tiers;

import java.nio.file.Path;
import java.util.Set;
import org.udckpt.image.catalogue.CheckpointCopy;
import org.udckpt.image.manifest.HostParts;

/** What a drain asks of a job's hosts, where each has the parts of its own nodes on a fast tier for itself. From the drain's thread. */
public interface PartHosts extends CheckpointCopy.Hosts {
    /** There are none: what is on fast is there as a whole. */
    PartHosts NONE = new PartHosts() {
        @Override
        public void copy(CheckpointCopy.Order order, CheckpointCopy.Progress done) throws java.io.IOException {
            CheckpointCopy.Hosts.NONE.copy(order, done);
        }

        @Override
        public void stay(HostParts parts, long newest, Set<Long> checkpoints) { }
    };

    /**
     * Has all parts removed of checkpoints until {@code newest} that do not stay; returns at once. A host that does not hear of it removes them another time.
     *
     * @param parts  where they are
     * @param newest the number of the newest checkpoint that is complete
     */
    void stay(HostParts parts, long newest, Set<Long> checkpoints);

    /** Of the hosts of a job. @param fast where each host has its own, by the same name */
    static HostParts parts(Path fast, String job) {
        return new HostParts(fast.resolve(job));
    }
}
