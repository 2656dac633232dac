package org.udckpt.bench.workload;

import java.util.List;
import java.util.Map;

/**
 * An application as it was built with one MPI library.
 *
 * @param packages of Debian that have it; none: it is of this repository
 * @param command program and arguments of each rank, without a launcher
 * @param environment variables that it needs, those of the description's head included
 * @param launcherOptions that this application needs from its MPI's own launcher ({@code --mca ...})
 */
public record Build(List<String> packages, List<String> command, Map<String, String> environment,
        List<String> launcherOptions) {}
