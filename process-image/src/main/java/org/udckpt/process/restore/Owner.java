package org.udckpt.process.restore;

import org.udckpt.process.kinds.base.NamedProcess;

/**
 * The process that an error names, before it is there and when it is.
 *
 * @param rank of the root below which it is
 * @param name as {@link RestoreTarget#name} gives it
 */
record Owner(int rank, int pid, String name) implements NamedProcess {
    /** A process that is no part of the image: it ends before the job runs. */
    Owner helper(int helperPid) {
        return new Owner(rank, helperPid, "process " + helperPid);
    }

    @Override
    public RestoreException failed(String what) {
        return new RestoreException(RestoreException.Reason.FAILED, name + ": " + what);
    }

    @Override
    public RestoreException unsupported(String what) {
        return new RestoreException(RestoreException.Reason.UNSUPPORTED, name + ": " + what);
    }

    @Override
    public RestoreException inUse(String what) {
        return new RestoreException(RestoreException.Reason.IN_USE, name + ": " + what);
    }

    RestoreException changed(String what) {
        return new RestoreException(RestoreException.Reason.FILE_CHANGED, name + ": " + what);
    }
}
