package org.udckpt.cluster;

import org.udckpt.address.CountersFile.Counters;
import org.udckpt.coordination.lookup.Totals;
import org.udckpt.support.report.WriteProgress;

/**
 * What an agent counts for the lead, or at the lead what all of them do together, as of a moment ago.
 *
 * @param checkpoint whose parts are being written, or were until a moment ago; 0: none's
 * @param units      that have said how far their part of it is
 * @param write      theirs together, without a time
 * @param ranks      that are alive
 * @param missing    bytes of a restarted job's memory that still come in
 * @param messages   of all ranks, in this incarnation
 */
public record NodeCounts(long checkpoint, int units, WriteProgress write, long ranks, long missing, Counters messages) {
    private static final WriteProgress NOTHING = new WriteProgress(0, 0, 0, 0, 0, 0);
    /** Counts of a node that has not reported yet. */
    public static final NodeCounts NONE = NodeCounts.idle(0, 0, Counters.NONE);

    /** Counts of an agent that writes no part. */
    public static NodeCounts idle(long ranks, long missing, Counters messages) {
        return new NodeCounts(0, 0, NOTHING, ranks, missing, messages);
    }

    /** The same of an agent that writes one. */
    public NodeCounts writing(long number, WriteProgress progress) {
        return new NodeCounts(number, 1, progress, ranks, missing, messages);
    }

    /** To be added up. */
    public Totals.Counts encode() {
        return new Totals.Counts(checkpoint,
                new long[]{units, write.ranksDone(), write.ranks(), write.bytesDone(), write.bytes(),
                        write.storedBytes()},
                new long[]{ranks, missing, messages.udSends(), messages.udRewrites(), messages.udReceives(),
                        messages.udTranslations(),
                        messages.cacheMisses(), messages.tableMisses(), messages.unknownPeers(),
                        messages.addressHandles(), messages.rcSends(), messages.refused()});
    }

    /** What was added up. */
    public static NodeCounts of(Totals.Counts counts) {
        long[] w = counts.ofEpoch();
        long[] c = counts.lasting();
        return new NodeCounts(counts.epoch(), (int) w[0],
                new WriteProgress((int) w[1], (int) w[2], w[3], w[4], w[5], 0), c[0], c[1],
                new Counters(c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11]));
    }
}
