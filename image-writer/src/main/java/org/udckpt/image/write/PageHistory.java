package org.udckpt.image.write;

import java.util.ArrayList;
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
        Map<Integer, List<HashedChunk>> byProcess = new HashMap<>();
        for (HashedChunk chunk : part.chunks()) {
            byProcess.computeIfAbsent(chunk.chunk().process(), _ -> new ArrayList<>()).add(chunk);
        }
        byProcess.forEach((process, chunks) -> processes.put(process, new ProcessPages(chunks)));
    }

    /** Its number. */
    public long checkpoint() {
        return checkpoint;
    }

    /** Null when the process was not there. */
    ProcessPages pages(int process) {
        return processes.get(process);
    }
}
