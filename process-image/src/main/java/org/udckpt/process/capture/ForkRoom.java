package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.RLIMIT_NPROC;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Limits;
import org.udckpt.linux.Proc;
import org.udckpt.linux.User;

/**
 * Room for the snapshots in an ordinary user's limit of processes (RLIMIT_NPROC): while they are made, what the
 * processes may have is what their hard limits allow. Root's are not counted.
 */
final class ForkRoom implements AutoCloseable {
    private final Map<TracedProcess, RaisedLimit> raised = new LinkedHashMap<>();

    ForkRoom(List<TracedProcess> processes) {
        if (User.id() == 0) {
            return;
        }
        for (TracedProcess process : processes) {
            raised.put(process, new RaisedLimit(process.pid, RLIMIT_NPROC));
        }
    }

    /**
     * Whether a fork that failed with EAGAIN never succeeds: this process alone has more threads than the user may
     * have.
     */
    static boolean isHopeless(TracedProcess process) {
        long hard = Limits.of(process.pid)[2 * RLIMIT_NPROC + 1];
        return User.id() != 0 && hard != Limits.INFINITY
                && hard <= Proc.threads((int) ProcessHandle.current().pid()).length;
    }

    @Override
    public void close() {
        raised.forEach((process, limit) -> {
            limit.close();
            if (process.snapshot != null) { // the image's limits are what the snapshot has
                limit.lower(process.snapshot.pid());
            }
        });
    }
}
