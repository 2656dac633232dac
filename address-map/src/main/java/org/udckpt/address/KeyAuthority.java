package org.udckpt.address;

import java.util.Optional;
import java.util.OptionalInt;

/** Who knows the remote keys of ranks of other nodes; those of this node's everybody reads in {@link KeysFile}s. Thread-safe; may take a while. */
public interface KeyAuthority {
    /** All ranks are here. */
    KeyAuthority NONE = new KeyAuthority() {
        @Override
        public void tell(int rank, int virtualKey, int realKey) { }

        @Override
        public Optional<KeysFile.Pairs> of(int rank) {
            return Optional.empty();
        }

        @Override
        public OptionalInt find(int rank, int virtualKey) {
            return OptionalInt.empty();
        }
    };

    /** A rank of this node has given a region a key that is not its device's. Returns before anybody else can have heard of that key. */
    void tell(int rank, int virtualKey, int realKey);

    /** What ranks elsewhere have to know of a rank when they connect to it. @return empty if it is not on another node */
    Optional<KeysFile.Pairs> of(int rank);

    /** A key that is not in {@link #of}, since it was told later. */
    OptionalInt find(int rank, int virtualKey);
}
