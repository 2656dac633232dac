package org.udckpt.ud;

import java.util.Optional;
import org.udckpt.address.HostAddress;

/** On which host a process is in this incarnation of the job. */
@FunctionalInterface
public interface RankHosts {
    /** Every process is where its environment says. */
    RankHosts FROM_ENVIRONMENT = tree -> Optional.empty();

    /**
     * @param tree the rank of {@code run -n} below which it is, or -1; the answer is empty when its environment says
     *     the address
     */
    Optional<HostAddress> of(int tree);
}
