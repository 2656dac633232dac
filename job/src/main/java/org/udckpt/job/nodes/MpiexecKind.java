package org.udckpt.job.nodes;

/** Whose {@code mpiexec} it is: each has flags of its own. */
public enum MpiexecKind { HYDRA, OPEN_MPI }
