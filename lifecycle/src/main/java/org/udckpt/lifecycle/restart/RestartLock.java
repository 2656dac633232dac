package org.udckpt.lifecycle.restart;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.LockFile;
import org.udckpt.linux.Trust;
import org.udckpt.store.Tiers;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * That no other restart of a directory's checkpoints changes the job's files at the same time: each would put aside
 * what the other has just put back. It ends when the job runs, or has failed to. Of a job with tiers, the slow one's is
 * what its restarts on all nodes have in common.
 */
public final class RestartLock implements AutoCloseable {
    /**
     * In the directory of checkpoints: a lock on the directory itself would be for everybody who can read it to hold.
     */
    private static final String NAME = "restart.lock";

    private final List<LockFile> locks = new ArrayList<>();

    private final boolean makes;

    private RestartLock(boolean makes) {
        this.makes = makes;
    }

    /** @throws Failure 75: there is another one */
    public static RestartLock of(Path checkpoints, Optional<Tiers> tiers) {
        return new RestartLock(true).taken(checkpoints, tiers);
    }

    /** The same for a caller that changes nothing: it creates no lock file either. */
    public static RestartLock look(Path checkpoints, Optional<Tiers> tiers) {
        return new RestartLock(false).taken(checkpoints, tiers);
    }

    private RestartLock taken(Path checkpoints, Optional<Tiers> tiers) {
        try {
            try (Folder own = Folder.reach(checkpoints.toString(), Trust.ANY)) {
                lock(own);
                if (tiers.isPresent()) {
                    lockSlow(tiers.get().slow().path(), own.stat());
                }
            }
            return this;
        } catch (RuntimeException e) {
            close();
            throw Failure.of("locking " + checkpoints, e);
        }
    }

    private void lockSlow(Path slow, Files.Stat own) {
        try (Folder folder = Folder.reach(slow.toString(), Trust.ANY)) {
            if (!folder.stat().isSame(own)) {
                lock(folder);
            }
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.ENOENT && e.errno() != LinuxError.ENOTDIR) {
                warn(e);
            }
        }
    }

    /** Another process has made sure of it. */
    static RestartLock elsewhere() {
        return new RestartLock(false);
    }

    private void lock(Folder folder) {
        LockFile file;
        try {
            file = makes ? LockFile.open(folder, NAME) : LockFile.openIfThere(folder, NAME);
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.EACCES && e.errno() != LinuxError.EROFS) {
                throw e;
            }
            warn(e); // an archive, to be read only
            return;
        }
        if (file == null) {
            return; // no restart has been made from there
        }
        locks.add(file);
        boolean taken;
        try {
            taken = file.tryLock();
        } catch (LinuxError e) { // ENOLCK and the like, of file systems that lock nothing (NFS)
            warn(e);
            return;
        }
        if (!taken) {
            throw new Failure(ExitCode.BUSY, "another restart from " + folder.path()
                    + " is restoring the job's files (" + file.holder()
                    + "); wait until its job runs or the restart has failed, and try again");
        }
    }

    private static void warn(LinuxError e) {
        Messages.warn(e.getMessage() + ": restart only one job from there at a time");
    }

    @Override
    public void close() {
        locks.forEach(LockFile::close);
        locks.clear();
    }
}
