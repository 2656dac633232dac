package org.udckpt.job.config;

import java.util.Locale;

/** Every setting that a file, the environment or a flag can give, with its default. */
public enum Option {
    RUNTIME("runtime", "", "directory for sockets and shared memory of running jobs; empty: $XDG_RUNTIME_DIR/udckpt, else /dev/shm/udckpt-UID"),
    DIR("dir", "", "where checkpoints go; empty: ./NAME.ckpt"),
    SHARED_DIR("shared-dir", "false", "checkpoints may be in a directory that others of a group can write to, who can then remove them, but neither read nor change them: true or false"),
    INTERVAL("interval", "0", "time between checkpoints taken by itself, e.g. 30s, 10m; auto: from their cost and mtbf; 0: none"),
    MTBF("mtbf", "0", "mean time between failures of the whole job, e.g. 12h; alone it means interval auto; 0: not known"),
    KEEP("keep", "0", "how many complete checkpoints of the job to keep; 0: all"),
    FULL_EVERY("full-every", "", "each N-th checkpoint holds everything, the others what changed since the one before; 1: each does; empty: 8 with interval and without keep, else 1"),
    COMPRESS("compress", "none", "how images are compressed: none, zstd, zstd:LEVEL (1 to 19)"),
    INTEGRITY("integrity", "gmac", "what protects memory in images: gmac (tags under the user's key), sha256 (slower), or xxh3 (finds accidents, not intent)"),
    ENCRYPT("encrypt", "", "where the key of encrypted images is: file:PATH or command:COMMAND; empty: not encrypted"),
    TIERS("tiers", "", "fast=DIR,slow=DIR: checkpoints are written to fast, and copied to slow while the job runs; local=DIR in place of fast where each host has its own; in place of dir"),
    KEEP_FAST("keep-fast", "1", "how many checkpoints stay on the fast tier once they are on the slow one, at least 1"),
    DRAIN_TIMEOUT("drain-timeout", "30m", "how long a job that has ended waits for its newest checkpoint to be copied to the slow tier"),
    MAX_RATE("max-rate", "0", "bytes a second at most that go to storage, per node, e.g. 500M, 2G, at least 64K; 0: as fast as it takes them"),
    IO_IDLE("io-idle", "false", "write images only with what storage and processors have left: true or false"),
    BUFFER("buffer", "256M", "memory for pages on their way to storage, per node, at least 4M"),
    DEVICE("device", "auto", "verbs device: soft, auto, or names of devices (a,b), which the hosts take in turn; a+b: both on one host"),
    QUIESCE_TIMEOUT("quiesce-timeout", "10s", "how long a rank may take to reach the gate before a checkpoint is given up"),
    REBUILD_TIMEOUT("rebuild-timeout", "30s", "how long a restored rank may take to recreate its verbs objects"),
    LAZY("lazy", "auto", "auto: a restarted job runs while its memory is still being read, where this system permits it; no: it waits"),
    RESTART_ON_FAILURE("restart-on-failure", "0", "restart a job that fails from its newest checkpoint, so many times at most without getting further; 0: never"),
    OUTSIDE("outside", "refuse", "connections to processes outside of the job: refuse checkpoints, or close them in the image (the running job keeps them)"),
    FILES("files", "", "files and directories that are part of each checkpoint besides those open for writing: globs, with ':' between them"),
    FILES_EXCEPT("files-except", "", "files that are not, although open or named: globs, with ':' between them; a restart cuts them back to their length"),
    FILES_IN_STOP("files-in-stop", "64M", "bytes of files that may be copied while the job stands still, where the file system has no reflinks"),
    FILES_LIMIT("files-limit", "64G", "bytes that the files of a checkpoint may have together; it is refused above"),
    ROLLED_BACK("rolled-back", "keep", "what a restart does with files that it replaces: keep (as NAME.udckpt-rolled-back-ID) or discard"),
    ENV("env", "", "environment variables that a restarted job finds when it asks for them again: NAME=VALUE, one a line"),
    METRICS("metrics", "", "file that always has the job's metrics, in OpenMetrics' text format; NAME.prom: in Prometheus' own; empty: none"),
    METRICS_LISTEN("metrics-listen", "", "ADDRESS:PORT, or PORT of the loopback address, where the job's metrics can be asked for by HTTP; empty: nowhere"),
    START_TIMEOUT("start-timeout", "60s", "how long the agents of a job on several hosts may take until all have come"),
    LEAD_ADDRESS("lead-address", "", "address of this host by which the agents on others reach it; empty: the one by which it reaches them"),
    LEASE("lease", "10s", "how long an agent of a job on several hosts may be silent until it is lost, from 1s"),
    SPARES("spares", "", "hosts (a,b), or how many of --hosts or of an allocation, that take the place of lost ones when a job on several hosts is restarted by itself"),
    REMOTE("remote", "", "the udckpt command on the job's hosts; empty: the same path as here"),
    NATIVE("native", "", "directory of libudckpt.so and udckpt-shepherd; empty: beside the classes");

    private final String key;
    private final String fallback;
    private final String help;

    Option(String key, String fallback, String help) {
        this.key = key;
        this.fallback = fallback;
        this.help = help;
    }

    public String key() {
        return key;
    }

    public String fallback() {
        return fallback;
    }

    public String help() {
        return help;
    }

    /** The environment variable: {@code quiesce-timeout} is UDCKPT_QUIESCE_TIMEOUT. */
    public String variable() {
        return "UDCKPT_" + key.toUpperCase(Locale.ROOT).replace('-', '_');
    }
}
