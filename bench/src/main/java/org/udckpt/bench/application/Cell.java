package org.udckpt.bench.application;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.udckpt.bench.workload.Build;
import org.udckpt.bench.workload.Workload;

/** A row of the results: an application, who starts it, over what. */
record Cell(Workload workload, Launcher launcher, Transport transport, int ranks) {

    /** Unique, and the name of a file. */
    String id() {
        return workload.name() + "-" + launcher.word() + "-" + transport.word();
    }

    Build build() {
        return workload.builds().get(launcher.mpi());
    }

    /** Debian's, in order. */
    SortedSet<String> packages() {
        SortedSet<String> packages = new TreeSet<>(build().packages());
        packages.add(launcher.debianPackage());
        return packages;
    }

    /** Whether all programs are there that it needs. */
    boolean isInstalled() {
        return launcher.isThere() && Programs.isThere(build().command().getFirst());
    }

    Map<String, String> environment() {
        Map<String, String> environment = new LinkedHashMap<>(build().environment());
        environment.put("UCX_TLS", transport.ucx());
        return environment;
    }

    List<String> words(Path session) {
        return launcher.words(build(), ranks, session);
    }
}
