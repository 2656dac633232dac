package org.udckpt.bench.workload;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The MPI libraries for which Debian builds applications. */
public enum Mpi {
    MPICH, OPENMPI;

    /** As descriptions and reports write it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static String words() {
        return Arrays.stream(values()).map(Mpi::word).collect(Collectors.joining(", "));
    }
}
