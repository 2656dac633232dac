package org.udckpt.job.life;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.store.Tiers;
import org.udckpt.linux.DirectoryLock;
import org.udckpt.linux.LinuxError;

/**
 * That no other restart of a directory's checkpoints changes the job's files at the same time: each would put aside what the other has just put
 * back. It ends when the job runs, or has failed to. Of a job with tiers, the slow one's is what its restarts on all nodes have in common.
 */
final class OneRestart implements AutoCloseable {
    private final List<DirectoryLock> locks = new ArrayList<>();

    private OneRestart() {}

    /** @throws Failure 75: there is another one */
    static OneRestart of(Path checkpoints, Optional<Tiers> tiers) {
        OneRestart alone = new OneRestart();
        try {
            alone.lock(checkpoints, true);
            Optional<Path> slow = tiers.map(both -> both.slow().path()).filter(Files::isDirectory);
            if (slow.isPresent() && !Files.isSameFile(slow.get(), checkpoints)) {
                alone.lock(slow.get(), false);
            }
            return alone;
        } catch (IOException | RuntimeException e) {
            alone.close();
            throw Failure.of("locking " + checkpoints, e);
        }
    }

    /** Another process has made sure of it. */
    static OneRestart elsewhere() {
        return new OneRestart();
    }

    /** @param read the restart reads from there, and fails where it may not */
    private void lock(Path checkpoints, boolean read) {
        try {
            DirectoryLock lock = DirectoryLock.tryTake(checkpoints.toString());
            if (lock == null) {
                throw new Failure(ExitCode.BUSY, "another restart from " + checkpoints + " is putting back the job's files; wait until its job runs or it has failed, and try again");
            }
            locks.add(lock);
        } catch (LinuxError e) {
            if (read && (e.errno() == LinuxError.ENOENT || e.errno() == LinuxError.EACCES)) {
                throw e;
            }
            Messages.warn(e.getMessage() + ": restart only one job from there at a time");
        }
    }

    @Override
    public void close() {
        locks.forEach(DirectoryLock::close);
        locks.clear();
    }
}
