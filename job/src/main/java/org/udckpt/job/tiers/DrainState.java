package org.udckpt.job.tiers;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * What a drain is doing.
 *
 * @param copying id of the checkpoint under way, "" when none is
 * @param done bytes written and read back of it
 * @param total of both
 * @param drained the newest that is complete on slow, "" when this life has copied none
 * @param problem why the last copy failed, "" when it did not
 */
public record DrainState(String copying, long done, long total, String drained, String problem) {
    static final DrainState IDLE = new DrainState("", 0, 0, "", "");

    DrainState begun(String id) {
        return new DrainState(id, 0, 0, drained, problem);
    }

    DrainState copied(long nowDone, long ofTotal) {
        return new DrainState(copying, nowDone, ofTotal, drained, problem);
    }

    DrainState succeeded() {
        return new DrainState("", 0, 0, copying, "");
    }

    DrainState failed(String why) {
        return new DrainState("", 0, 0, drained, why);
    }

    public void describe(ObjectNode node) {
        node.put("copying", copying).put("bytes_done", done).put("bytes", total).put("drained", drained).put("problem", problem);
    }
}
