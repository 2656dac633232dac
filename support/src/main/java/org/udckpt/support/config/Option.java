package org.udckpt.support.config;

import java.util.Locale;

/** Every setting that a file, the environment or a flag can give, with its default. */
public enum Option {
    RUNTIME("runtime", "",
            "directory for sockets and shared memory of running jobs; empty: $XDG_RUNTIME_DIR/udckpt, else "
                    + "/dev/shm/udckpt-UID"),
    DIR("dir", "", "checkpoint directory of a job; empty: ./NAME.ckpt"),
    SHARED_DIR("shared-dir", "false", "allow checkpoint directories that a group can write to, whose members can "
            + "remove checkpoints but not read or change them: true or false"),
    INTERVAL("interval", "0", "time between periodic checkpoints, e.g. 30s, 10m; auto: computed from their cost and "
            + "mtbf; 0: none"),
    MTBF("mtbf", "0", "mean time between failures of the whole job, e.g. 12h; implies interval auto when interval is "
            + "not set; 0: unknown"),
    KEEP("keep", "0", "how many complete checkpoints of the job to keep; 0: all"),
    FULL_INTERVAL("full-interval", "full-every", "", "each N-th checkpoint is a full one, the others are "
            + "incremental; 1: all are full; empty: 8 with interval and without keep, else 1"),
    WRITE_TRACKING("write-tracking", "true", "incremental checkpoints leave unwritten memory unread (from Linux 6.7 "
            + "on): true or false"),
    VERIFY_TRACKING("verify-tracking", "false", "the same, but such memory is read and compared: true or false"),
    COMPRESS("compress", "none", "compression of images: none, zstd (by content), zstd:LEVEL (1 to 19)"),
    INTEGRITY("integrity", "gmac", "integrity protection of memory in images: gmac (tags with the user's key), "
            + "sha256 (slower), or xxh3 (detects accidental damage only)"),
    ENCRYPT("encrypt", "", "source of the key of encrypted images: file:PATH or command:COMMAND; empty: images are "
            + "not encrypted"),
    TIERS("tiers", "", "fast=DIR,slow=DIR: checkpoints are written to fast, and copied to slow while the job runs; "
            + "local=DIR instead of fast=DIR if each host has its own; replaces dir"),
    KEEP_FAST("keep-fast", "1", "how many checkpoints stay on the fast tier after they were copied to the slow one, "
            + "at least 1"),
    DRAIN_TIMEOUT("drain-timeout", "30m",
            "how long a job that has ended waits for its newest checkpoint to be copied to the slow tier"),
    MAX_RATE("max-rate", "0", "limit of bytes written to storage a second on each node, e.g. 500M, 2G, at least 64K; "
            + "0: no limit"),
    IO_IDLE("io-idle", "false", "write images at idle I/O and CPU priority (slower, minimal interference): true or "
            + "false"),
    BUFFER("buffer", "256M", "memory for write buffers on each node, at least 4M"),
    DEVICE("device", "auto", "verbs device: soft, auto, or device names (a,b), which the hosts use in turn; a+b: "
            + "both on one host"),
    QUIESCE_TIMEOUT("quiesce-timeout", "10s", "time for each rank to reach the gate; after it the checkpoint fails"),
    CUDA_LOCK_TIMEOUT("cuda-lock-timeout", "10s", "time for the kernels of ranks with a GPU to end, 100ms to 40s; "
            + "after it the checkpoint fails"),
    MAP_GPU("map-gpu", "", "OLD=NEW, separated by ',': UUIDs of GPUs at the checkpoint, and of those that a restart "
            + "uses instead; empty: the same, or others of the same kind in order"),
    REBUILD_TIMEOUT("rebuild-timeout", "30s", "time for a restored rank to recreate its verbs objects"),
    LAZY("lazy", "auto", "auto: a restarted job runs while its memory is still being read, where possible; no: all "
            + "memory is read first"),
    RESTART_ON_FAILURE("restart-on-failure", "0", "restart a job that fails from its newest checkpoint, at most this "
            + "many times without a new checkpoint in between; 0: never"),
    EXTERNAL_CONNECTIONS("external-connections", "outside", "refuse", "connections to processes outside the job: "
            + "refuse checkpoints, or close them in the image (the running job keeps them)"),
    FILES("files", "", "files and directories to save in each checkpoint, besides files open for writing: globs, "
            + "separated by ':'"),
    FILES_EXCEPT("files-except", "", "files not to save, even if open for writing or named by files: globs, "
            + "separated by ':'; a restart truncates them to their length at the checkpoint"),
    FILES_IN_STOP("files-in-stop", "64M", "most bytes of files that are copied while the job is stopped, on file "
            + "systems without reflinks"),
    FILES_LIMIT("files-limit", "64G", "most bytes of files in a checkpoint; a checkpoint with more is refused"),
    WITH_LIBRARIES("with-libraries", "false", "save the programs and libraries that the job maps in each checkpoint, "
            + "for a restart where they are missing or differ: true or false"),
    REPLACED_FILES("replaced-files", "rolled-back", "keep", "files that a restart replaces: keep (as "
            + "NAME.udckpt-rolled-back-ID) or discard"),
    ENV("env", "", "environment variables for programs of a restarted job that read them again: NAME=VALUE, one a "
            + "line"),
    METRICS("metrics", "", "file for the job's metrics, in OpenMetrics text format; NAME.prom: in Prometheus format; "
            + "empty: none"),
    METRICS_LISTEN("metrics-listen", "", "ADDRESS:PORT, or PORT of the loopback address, at which the job's metrics "
            + "are served by HTTP; empty: none"),
    START_TIMEOUT("start-timeout", "60s", "time for all agents of a job on several hosts to start and connect"),
    LEAD_ADDRESS("lead-address", "", "address of this host that agents on other hosts connect to; empty: the address "
            + "from which this host reaches them"),
    HEARTBEAT_TIMEOUT("heartbeat-timeout", "lease", "10s", "a host of a job on several hosts is lost when its agent "
            + "is silent for this time, 1s to 1d"),
    SPARES("spares", "", "hosts (a,b) that replace lost ones when a job on several hosts is restarted on failure; N: "
            + "the last N of --hosts or of the Slurm allocation"),
    REMOTE("remote", "", "the udckpt command on the job's hosts; empty: the same path as here"),
    NATIVE("native", "", "directory of libudckpt.so and udckpt-shepherd; empty: beside the classes");

    private final String key;
    private final String former;
    private final String fallback;
    private final String help;

    Option(String key, String fallback, String help) {
        this(key, key, fallback, help);
    }

    /** @param former what it was called in earlier versions, which goes on to be read */
    Option(String key, String former, String fallback, String help) {
        this.key = key;
        this.former = former;
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
        return variable(key);
    }

    /** The key of earlier versions; the present one where there was no other. */
    String former() {
        return former;
    }

    /** {@link #variable} of earlier versions. */
    String formerVariable() {
        return variable(former);
    }

    private static String variable(String key) {
        return "UDCKPT_" + key.toUpperCase(Locale.ROOT).replace('-', '_');
    }
}
