package org.udckpt.ud;

import java.util.List;
import org.udckpt.address.Gid;
import org.udckpt.address.Transport;
import org.udckpt.address.VerbsAddress;

/** The messages between a rank's library and its agent; layouts in {@code native/layout/udckpt.layout}. */
public sealed interface Message {
    /** An answer repeats its question's cookie. */
    long cookie();

    /** Agent to rank, first on every connection. */
    record Identify(long cookie, long layoutHash, int generation) implements Message {}

    /**
     * The rank's answer.
     *
     * @param tree the rank of {@code run -n} below which it was started, or -1
     * @param pid in the sender's pid namespace
     * @param role CONTROL or REQUEST ({@code Layout.ROLE_*})
     * @param fd the sender's descriptor number of this connection
     * @param generation the incarnation that the sender's objects are of: an earlier one when it was restored and not
     *     rebuilt yet
     * @param rank its number ({@link RankNumbers}), or -1 before it has one
     * @param mpiRank what its MPI launcher calls it, or -1
     */
    record Hello(long cookie, long layoutHash, int tree, int pid, int role, int fd, int generation, int rank,
            int mpiRank) implements Message {
        /** The same of the process with this number. */
        Hello of(int number) {
            return new Hello(cookie, layoutHash, tree, number, role, fd, generation, rank, mpiRank);
        }
    }

    /** Close the gate. */
    record Quiesce(long cookie) implements Message {}

    /** No thread is inside a verb; what belongs to the library and its device and is not part of an image. */
    record Quiesced(long cookie, int status, List<Integer> descriptors, List<OwnedRange> ranges) implements Message {}

    /** An address range that is not part of an image, end exclusive. */
    record OwnedRange(long start, long end) {}

    /** Let reliable connections end what they have under way, and begin nothing new. */
    record Settle(long cookie) implements Message {}

    /** @param waiting requests that were not begun, or for which no receive is posted: they stay in the queues */
    record Settled(long cookie, int status, int waiting) implements Message {}

    /** Move arrived completions to the virtual completion queues. */
    record Drain(long cookie) implements Message {}

    /** @param completions how many were moved */
    record Drained(long cookie, int status, int completions) implements Message {}

    /** All ranks have been rebuilt: connect the reliable connections. */
    record Connect(long cookie) implements Message {}

    /** @param error what failed, with the object's name; empty on success */
    record Connected(long cookie, int status, String error) implements Message {}

    /** Open the gate. */
    record Resume(long cookie) implements Message {}

    record Resumed(long cookie, int status) implements Message {}

    /**
     * Recreate every verbs object.
     *
     * @param generation  of the new incarnation
     * @param realLid     of the simulated host
     * @param realLids    how many are its own, from that one on
     * @param qpnFirst    first QPN that the device may hand out
     * @param qpnLast     last one
     * @param downtimeNs  wall-clock time since the snapshot
     * @param realGid     of the host; zero leaves it to the device
     * @param device      name; empty for the one of the first incarnation
     * @param runtimeDir  holds the new table, counters and agent.sock
     */
    record Rebuild(long cookie, int generation, int realLid, int realLids, int qpnFirst, int qpnLast, long downtimeNs,
            Gid realGid,
            String device, String runtimeDir) implements Message {}

    /** @param error what failed, with the object's name; empty on success */
    record Rebuilt(long cookie, int status, String error) implements Message {}

    /** Rank to agent, before its first device: on which host is it in this incarnation? */
    record Locate(long cookie) implements Message {}

    /**
     * @param status {@code Layout.STATUS_UNKNOWN}: the address of the rank's environment stands; {@code STATUS_FAILED}:
     *     no number is left
     * @param rank the asking process's number
     */
    record Located(long cookie, int status, int realLid, int realLids, int qpnFirst, int qpnLast,
            int rank) implements Message {}

    /** Rank to agent: this queue pair exists. @param virtualQpn 0 for a new one */
    record Register(long cookie, int virtualQpn, VerbsAddress virtual, VerbsAddress real,
            Transport transport) implements Message {}

    record Registered(long cookie, int status, int virtualQpn) implements Message {}

    /** Rank to agent: this queue pair is gone. */
    record Unregister(long cookie, VerbsAddress virtual) implements Message {}

    record Unregistered(long cookie, int status) implements Message {}

    /** Rank to agent: the table has no such address. @param reverse the address is a real one */
    record Resolve(long cookie, boolean reverse, VerbsAddress address) implements Message {}

    /** Rank to agent: these GIDs are at the host of this number. @param reverse number and GIDs are real ones */
    record Host(long cookie, boolean reverse, int number, List<Gid> gids) implements Message {}

    /** Rank to agent: which host has this GID? @param reverse the GID is a real one */
    record FindHost(long cookie, boolean reverse, Gid gid) implements Message {}

    /** The answer to both. @param status {@code Layout.STATUS_UNKNOWN}: no host of the job has that GID */
    record Hosted(long cookie, int status, int number) implements Message {}

    /**
     * @param status {@code Layout.STATUS_OK}: the entry is in the table now; {@code STATUS_UNKNOWN}: no such endpoint
     */
    record Resolved(long cookie, int status) implements Message {}

    /** Rank to agent: the remote keys of a rank are not in the runtime directory. */
    record PeerKeys(long cookie, int rank) implements Message {}

    /** Rank to agent: a region of the asking rank has been given another key than the device's. */
    record TellKey(long cookie, int rank, int virtualKey, int realKey) implements Message {}

    /** Rank to agent: the real key of a region of a rank of another node. */
    record FindKey(long cookie, int rank, int virtualKey) implements Message {}

    /**
     * The answer to these three.
     *
     * @param status {@code Layout.STATUS_UNKNOWN}: there is no such rank, or key, on another node
     */
    record Keyed(long cookie, int status, int realKey) implements Message {}

    /**
     * Rank to agent: rdma_cm takes a port, or listens at it.
     *
     * @param port 0 for any free one
     */
    record CmBind(long cookie, CmPort port, long owner, VerbsAddress service, boolean reuse,
            boolean listening) implements Message {}

    /** @param port the one that was given */
    record CmBound(long cookie, int status, int port) implements Message {}

    record CmUnbind(long cookie, CmPort port, long owner) implements Message {}

    record CmUnbound(long cookie, int status) implements Message {}

    /** Rank to agent: where are connections to this port asked for? */
    record CmFind(long cookie, CmPort port) implements Message {}

    /** @param service the listener's service queue pair; all zero when nobody listens */
    record CmFound(long cookie, int status, VerbsAddress service) implements Message {}
}
