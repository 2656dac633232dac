package org.udckpt.image.write;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a checkpoint holds of one node, page by page, so that the next one stores only what differs: 16 bytes for each
 * page of 4096 that is not zero. It lives in memory, with the writer of both; the first checkpoint of an incarnation is
 * a full one. Immutable.
 */
public final class PageHistory {
    private final long checkpoint;
    private final Map<Integer, ProcessPages> processes = new HashMap<>();

    PageHistory(long checkpoint, NodePart part) {
        this.checkpoint = checkpoint;
        List<HashedChunk> chunks = part.chunks(); // by process
        for (int from = 0, to = 0; from < chunks.size(); from = to) {
            int process = chunks.get(from).chunk().process();
            while (to < chunks.size() && chunks.get(to).chunk().process() == process) {
                to++;
            }
            processes.put(process, new ProcessPages(chunks.subList(from, to)));
        }
    }

    /** Its number. */
    public long checkpoint() {
        return checkpoint;
    }

    /**
     * {start, end} pairs of what it found in older checkpoints of a process's memory, by its number, ascending; pairs
     * that touch are not joined.
     */
    public long[] older(int process) {
        ProcessPages pages = processes.get(process);
        return pages == null ? new long[0] : pages.notIn(checkpoint);
    }

    /** Null when the process was not there. */
    ProcessPages pages(int process) {
        return processes.get(process);
    }
}
