package org.udckpt.ud;

import java.util.Optional;
import org.udckpt.address.HostAddress;

/** On which host a rank is in this life of the job. */
@FunctionalInterface
public interface RankHosts {
    /** Every process is where its environment says. */
    RankHosts FROM_ENVIRONMENT = rank -> Optional.empty();

    /** @param rank of the asking process, -1 where it has none; the answer is empty when its environment says the address */
    Optional<HostAddress> of(int rank);
}
