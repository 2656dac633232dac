package org.udckpt.inspect.diff;

/**
 * Pages of 4096 bytes, by what became of them from the older to the newer checkpoint.
 *
 * @param both stored in both, whether changed or not
 * @param changed of those, with other contents
 * @param added stored in the newer only
 * @param removed stored in the older only
 */
public record PageCounts(long both, long changed, long added, long removed) {
    public static final int BYTES = 4096;
    public static final PageCounts NONE = new PageCounts(0, 0, 0, 0);

    public PageCounts plus(PageCounts other) {
        return new PageCounts(both + other.both, changed + other.changed, added + other.added, removed + other.removed);
    }

    /** What the newer checkpoint stores that the older does not. */
    public long written() {
        return changed + added;
    }

    /** Whether no page changed, came or went. */
    public boolean quiet() {
        return written() + removed == 0;
    }
}
