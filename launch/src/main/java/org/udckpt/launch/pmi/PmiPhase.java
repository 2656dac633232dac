package org.udckpt.launch.pmi;

/** A rank's PMI life. A program that is not MPI stays in SILENT. */
public enum PmiPhase {
    SILENT,
    INITIALISED,
    FINALISED
}
