package org.udckpt.launch.pmi;

/** What the rest of the agent hears from the PMI server; called on a connection's thread, must not block. */
public interface PmiListener {
    /** MPI_Abort, or a fatal MPI error: the whole job ends with this code. */
    void aborted(int rank, int exitCode);

    /** The connection closed between init and finalize: the rank died, or left without MPI_Finalize. */
    void lost(int rank);

    /**
     * Ranks of several agents have put different values under one key, which is found later than {@code put} was
     * answered: the job ends.
     *
     * @param why naming the key
     */
    void contradicted(String why);

    /** A rank asked for something that is not supported; it got an error as its answer. */
    void refused(int rank, String reason);
}
