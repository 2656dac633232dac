package org.udckpt.process.model;

import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The maker of a unix socket's peer, as the socket reports it (SO_PEERCRED and SO_PEERGROUPS of unix(7)):
 * {@link AttributeKind#PEER_CREDENTIALS}.
 *
 * @param object the socket
 * @param pid in the job's namespace, whether that process is still there or not
 * @param uid effective, as gid
 */
public record PeerCredentials(long object, int pid, int uid, int gid, int[] groups) {
    /** Supplementary groups that are kept; the kernel knows 65,536. */
    public static final int MOST_GROUPS = 4096;
    private static final int FIXED = 4;
    static final int MOST_VALUES = FIXED + MOST_GROUPS;

    /** Reads an attribute that has been checked. */
    public static PeerCredentials of(Attribute attribute) {
        long[] values = attribute.values();
        return new PeerCredentials(values[0], (int) values[1], (int) values[2], (int) values[3],
                Arrays.stream(values).skip(FIXED).mapToInt(one -> (int) one).toArray());
    }

    /** The values of an {@link Attribute}; users and groups are unsigned. */
    public long[] values() {
        return LongStream.concat(LongStream.of(object, pid, Integer.toUnsignedLong(uid), Integer.toUnsignedLong(gid)),
                IntStream.of(groups).mapToLong(Integer::toUnsignedLong)).toArray();
    }

    /** Whether an attribute of this kind can have these values. */
    public static boolean possible(long[] values) {
        return values.length >= FIXED && values[1] >= 1 && values[1] <= Integer.MAX_VALUE
                && Arrays.stream(values).skip(2).allMatch(one -> one >= 0 && one < 0xffff_ffffL);
    }
}
