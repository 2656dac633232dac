package org.udckpt.process.restore;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.process.restore.RestoreException.Reason;

/**
 * All files for which a restart is refused. One message names them, so that nobody has to mend one after the other (on
 * another distribution every library differs).
 */
final class RefusedFiles {
    /** So many are named; the others are counted. */
    static final int NAMED = 20;

    private final String wayOut;
    private final List<RestoreException> refusals = new ArrayList<>();

    /** @param wayOut what is to be done about a file that was changed, with which messages may end */
    RefusedFiles(String wayOut) {
        this.wayOut = wayOut;
    }

    void add(RestoreException refusal) {
        refusals.add(refusal);
    }

    /** @throws RestoreException if there is a refusal; of several, reason FORBIDDEN if any has it, else FILE_CHANGED */
    void refuse() {
        if (refusals.size() == 1) {
            throw refusals.getFirst();
        }
        if (!refusals.isEmpty()) {
            boolean forbidden = refusals.stream().map(RestoreException::reason).anyMatch(Reason.FORBIDDEN::equals);
            throw new RestoreException(forbidden ? Reason.FORBIDDEN : Reason.FILE_CHANGED, message());
        }
    }

    private String message() {
        List<String> lines = new ArrayList<>();
        lines.add(refusals.size() + " files are not as they were at the checkpoint:");
        for (RestoreException refusal : refusals.subList(0, Math.min(NAMED, refusals.size()))) {
            lines.add(refusal.getMessage().replace("; " + wayOut, ""));
        }
        if (refusals.size() > NAMED) {
            lines.add("and " + (refusals.size() - NAMED) + " more");
        }
        lines.add("For each: " + wayOut + ". If this is a different system than at the checkpoint: copy that system's"
                + " directories here, and give the new place of each (--map-path /usr=/srv/old/usr); for the next time"
                + " have them in the checkpoint (run --with-libraries)");
        return String.join("\n", lines);
    }
}
