package org.udckpt.job.life;

import java.nio.file.Path;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.process.linux.DirectoryLock;
import org.udckpt.process.linux.LinuxError;

/**
 * That no other restart of a directory's checkpoints changes the job's files at the same time: each would put aside what the other has just put
 * back. It ends when the job runs, or has failed to.
 */
final class OneRestart implements AutoCloseable {
    /** Null: the file system locks no directories, or it is over. */
    private DirectoryLock lock;

    private OneRestart(DirectoryLock lock) {
        this.lock = lock;
    }

    /** @throws Failure 75: there is another one */
    static OneRestart of(Path checkpoints) {
        try {
            DirectoryLock lock = DirectoryLock.tryTake(checkpoints.toString());
            if (lock == null) {
                throw new Failure(ExitCode.BUSY, "another restart from " + checkpoints + " is putting back the job's files; wait until its job runs or it has failed, and try again");
            }
            return new OneRestart(lock);
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ENOENT || e.errno() == LinuxError.EACCES) {
                throw e;
            }
            Messages.warn(e.getMessage() + ": restart only one job from there at a time");
            return new OneRestart(null);
        }
    }

    @Override
    public void close() {
        if (lock != null) {
            lock.close();
            lock = null;
        }
    }
}
