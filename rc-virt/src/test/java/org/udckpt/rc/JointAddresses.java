package org.udckpt.rc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.udckpt.address.AddressAuthority;
import org.udckpt.address.AddressMap;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Gid;
import org.udckpt.address.KeyAuthority;
import org.udckpt.address.KeysFile;
import org.udckpt.address.Transport;
import org.udckpt.address.VerbsAddress;

/**
 * A node of two, whose agents know the same addresses; remote keys are read in the other's directory. Rank r is on node
 * r.
 */
interface JointAddresses extends AddressAuthority {
    AddressMap map();

    int self();

    /** Of all nodes, by rank. */
    List<Path> directories();

    /** What was told by name. */
    Map<String, Integer> told();

    @Override
    default Endpoint register(int rank, int virtualQpn, VerbsAddress virtual, VerbsAddress real, Transport transport) {
        return map().register(rank, virtualQpn, virtual, real, transport);
    }

    @Override
    default Optional<Endpoint> unregister(int rank, int virtualLid, int virtualQpn) {
        return map().unregister(rank, virtualLid, virtualQpn);
    }

    @Override
    default void host(boolean real, int number, List<Gid> gids) {
        map().host(real, number, gids);
    }

    @Override
    default OptionalInt hostOf(boolean real, Gid gid) {
        return map().hostOf(real, gid);
    }

    @Override
    default Optional<Endpoint> byVirtual(int lid, int qpn) {
        return map().byVirtual(lid, qpn);
    }

    @Override
    default Optional<Endpoint> byReal(int lid, int qpn) {
        return map().byReal(lid, qpn);
    }

    @Override
    default KeyAuthority keys() {
        return new KeyAuthority() {
            @Override
            public void tell(int rank, int virtualKey, int realKey) {
                Integer before = told().put(rank + " " + virtualKey, realKey);
                if (before != null) {
                    throw new IllegalStateException("key 0x%x of rank %d is given twice".formatted(virtualKey, rank));
                }
            }

            @Override
            public Optional<long[]> of(int rank) {
                Path file = KeysFile.of(directories().get(rank), rank);
                try {
                    return rank == self() ? Optional.empty()
                            : Optional.of(
                                    map().generation() == 0 || !Files.exists(file) ? new long[0] : KeysFile.read(file));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }

            @Override
            public OptionalInt find(int rank, int virtualKey) {
                Integer real = told().get(rank + " " + virtualKey);
                return real == null ? OptionalInt.empty() : OptionalInt.of(real);
            }
        };
    }
}
