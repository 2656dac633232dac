package org.udckpt.process.tree;

/**
 * One step on the way to the job's tree. A negative pid is a helper's that may have any number which nothing of the job
 * has.
 */
public sealed interface TreeStep {
    /** The shepherd's child; the first step of its tree. */
    record Root(int pid) implements TreeStep {}

    /** @param helper it is none of the image's processes, and ends before the job runs: see {@link End} */
    record Fork(int maker, int pid, boolean helper) implements TreeStep {}

    /** setsid(2). */
    record NewSession(int pid) implements TreeStep {}

    /** setpgid(2) by the process itself. */
    record JoinGroup(int pid, int group) implements TreeStep {}

    /** prctl(2), PR_SET_CHILD_SUBREAPER: whether orphans below it become its children. */
    record Adopt(int pid, boolean on) implements TreeStep {}

    /** A helper ends, and its maker waits for it. */
    record End(int pid, int maker) implements TreeStep {}
}
