package org.udckpt.job.pmi;

/** What the rest of the agent hears from the PMI server; called on a connection's thread, must not block. */
public interface PmiListener {
    /** MPI_Abort, or a fatal MPI error: the whole job ends with this code. */
    void aborted(int rank, int exitCode);

    /** The connection closed between init and finalize: the rank died, or left without MPI_Finalize. */
    void lost(int rank);

    /** A rank asked for something that is not supported; it got an error as its answer. */
    void refused(int rank, String reason);
}
