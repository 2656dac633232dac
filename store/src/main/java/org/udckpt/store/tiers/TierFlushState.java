package org.udckpt.store.tiers;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * What a flush is doing.
 *
 * @param copying id of the checkpoint under way, "" when none is
 * @param done bytes written and read back of it
 * @param total of both
 * @param drained the newest that is complete on slow, "" when this incarnation has copied none
 * @param problem why the last copy failed, "" when it did not
 */
public record TierFlushState(String copying, long done, long total, String drained, String problem) {
    static final TierFlushState IDLE = new TierFlushState("", 0, 0, "", "");

    TierFlushState begun(String id) {
        return new TierFlushState(id, 0, 0, drained, problem);
    }

    TierFlushState copied(long nowDone, long ofTotal) {
        return new TierFlushState(copying, nowDone, ofTotal, drained, problem);
    }

    TierFlushState succeeded() {
        return new TierFlushState("", 0, 0, copying, "");
    }

    TierFlushState failed(String why) {
        return new TierFlushState("", 0, 0, drained, why);
    }

    public void describe(ObjectNode node) {
        node.put("copying", copying).put("bytes_done", done).put("bytes", total).put("drained", drained)
                .put("problem", problem);
    }
}
