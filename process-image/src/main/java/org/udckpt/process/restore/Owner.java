package org.udckpt.process.restore;

/** The process that an error names, before it is there. */
record Owner(int rank, int pid) {
    RestoreException failed(String what) {
        return new RestoreException(RestoreException.Reason.FAILED, name() + ": " + what);
    }

    RestoreException unsupported(String what) {
        return new RestoreException(RestoreException.Reason.UNSUPPORTED, name() + ": " + what);
    }

    String name() {
        return "rank " + rank + " (process " + pid + ")";
    }
}
