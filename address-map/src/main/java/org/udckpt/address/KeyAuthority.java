package org.udckpt.address;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * Knows the remote keys of ranks of other nodes. Keys of this node's ranks are in {@link KeysFile}s, which all read.
 * Thread-safe; may take a while.
 */
public interface KeyAuthority {
    /** All ranks are here. */
    KeyAuthority NONE = new KeyAuthority() {
        @Override
        public void tell(int rank, int virtualKey, int realKey) {}

        @Override
        public Optional<long[]> of(int rank) {
            return Optional.empty();
        }

        @Override
        public OptionalInt find(int rank, int virtualKey) {
            return OptionalInt.empty();
        }
    };

    /**
     * A rank of this node has given a region a key that is not its device's. Returns before anybody else can have heard
     * of that key.
     */
    void tell(int rank, int virtualKey, int realKey);

    /**
     * What ranks elsewhere have to know of a rank when they connect to it.
     *
     * @return pairs of virtual and real key ({@link KeysFile#pair}); keys that are not among them are the device's own,
     *     but for those that are told later. Empty if the rank is not on another node
     * @throws IllegalStateException if its node does not say
     */
    Optional<long[]> of(int rank);

    /**
     * A key that is not in {@link #of}, since it was told later. Waits for a while where nobody knows it: it may be on
     * its way.
     */
    OptionalInt find(int rank, int virtualKey);
}
