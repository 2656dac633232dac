package org.udckpt.address;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/** Knows every endpoint of the job: the {@link AddressMap} itself, or a node's connection to it. Thread-safe. */
public interface AddressAuthority {
    /**
     * Records a queue pair.
     *
     * @param rank       its owner
     * @param virtualQpn 0 for a new queue pair; after a restart the number that the job knows it by
     * @param virtual    LID and GID that the job sees ({@code qpn} is ignored)
     * @param real       the device's address
     * @param transport  what it carries
     * @return the endpoint with its virtual QPN: the real one if that is free at the virtual LID
     * @throws IllegalStateException if another rank owns that virtual address, or no QPN is left
     */
    Endpoint register(int rank, int virtualQpn, VerbsAddress virtual, VerbsAddress real, Transport transport);

    /** The same for a queue pair of datagrams. */
    default Endpoint register(int rank, int virtualQpn, VerbsAddress virtual, VerbsAddress real) {
        return register(rank, virtualQpn, virtual, real, Transport.UD);
    }

    /** Forgets the queue pair of {@code rank} at this virtual LID and QPN. @return what it was, if it was known. */
    Optional<Endpoint> unregister(int rank, int virtualLid, int virtualQpn);

    /**
     * Records where GIDs are, for hosts without LIDs (RoCE), which have a number in the place of one.
     *
     * @param real   whether number and GIDs are those of this incarnation's devices, or what the job sees
     * @param number the host's, 1..65535
     * @throws IllegalStateException if another host has one of the GIDs
     */
    void host(boolean real, int number, List<Gid> gids);

    /** The number of the host that has this GID. */
    OptionalInt hostOf(boolean real, Gid gid);

    /** The endpoint that the job calls {@code lid, qpn}, when it has a real address in this incarnation. */
    Optional<Endpoint> byVirtual(int lid, int qpn);

    /**
     * Keys ({@link VerbsAddress#key}) of the virtual addresses elsewhere that ranks of this node have asked for and
     * found, ascending; none where all are known here.
     */
    default List<Long> peers() {
        return List.of();
    }

    /**
     * After a restart, before the ranks run: what {@link #peers} was, to be asked for in one go when all have said
     * where they are.
     *
     * @param known is given each endpoint that was found; does not throw
     */
    default void expect(List<Long> peers, Consumer<Endpoint> known) {}

    /** The remote keys of ranks of other nodes. */
    default KeyAuthority keys() {
        return KeyAuthority.NONE;
    }

    /** The endpoint that is at the device address {@code lid, qpn} in this incarnation. */
    Optional<Endpoint> byReal(int lid, int qpn);
}
