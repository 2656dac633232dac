package org.udckpt.process.restore;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.process.model.ProcessState;

/**
 * Where a job is restored to: the shepherd in its namespaces (docs/reference/control-protocol.md), and its new agent.
 */
public interface RestoreTarget {
    /**
     * The shepherd's {@code clock}, once, before the first stub: this is what CLOCK_MONOTONIC and CLOCK_BOOTTIME of the
     * job differ by from this machine's, in nanoseconds.
     */
    void clock(long offsetNs);

    /**
     * The shepherd's {@code last}: what the job's namespace makes next gets the pid after this one, if it is free. For
     * threads that may not choose theirs.
     */
    void last(int pid);

    /**
     * The shepherd's {@code parent}, before the first stub: the shepherd goes on under this pid, which the job's first
     * processes and orphans see as their parent's.
     *
     * @return the pid that it has now in its namespace: 1 where it cannot have that one
     */
    int parent(int pid);

    /** The shepherd's {@code stub}: a paused child of its with this pid; its pid as this process sees it. */
    int stub(int pid);

    /** The shepherd's {@code adopt}: a stub has made this one as the shepherd's child. */
    void adopt(int pid, int hostPid);

    /**
     * The shepherd's {@code pmi}: a new PMI connection of this rank; its descriptor number in the shepherd. The agent
     * first sends {@code queued} on it: answers that the rank had not read at the checkpoint.
     */
    int pmi(int rank, byte[] queued);

    /** The shepherd's {@code taken}: the rank, or the agent, has its copy of that descriptor. */
    void taken(int descriptor);

    /**
     * The shepherd's {@code lazy}: the number, in the shepherd, of the agent's end of a socket over which both hold
     * what fills memory; {@link #taken} too.
     */
    int lazy();

    /** The shepherd's {@code go}: the processes are complete and will outlive this one. */
    void go();

    /**
     * Processes, by their pids in the image, whose tracer somebody else is going to be (a debugger): see
     * {@link #awaitRelease}.
     */
    default Set<Integer> handedOver() {
        return Set.of();
    }

    /**
     * All processes are complete, and none has run an instruction. Those of {@link #handedOver} are stopped by SIGSTOP,
     * and have no tracer; the others stand still until this returns. When it throws, all are killed.
     *
     * @param hostPids pid of each process in its namespace -> its pid here
     */
    default void awaitRelease(Map<Integer, Integer> hostPids) {}

    /** Where changes of files go, in the place of the files: see {@link PrivateFiles}. Null: files are changed. */
    default PrivateFiles.Place changes() {
        return null;
    }

    /**
     * The job's files, by path, that were put back for this restart or found to be as they were: what is at each path
     * must be that still.
     */
    default Map<String, Files.Stat> putBack() {
        return Map.of();
    }

    /**
     * Whether files are to be cut back that the job had open and that are longer now; false: all that is to be done
     * about files is done, and others may write to them.
     */
    default boolean cutsFilesBack() {
        return true;
    }

    /**
     * Where {@link #changes} go is mounted, and no file of the job is open: they can be put back there.
     *
     * @param root /proc/PID/root of a process that sees it
     */
    default void changesMounted(String root) {}

    /**
     * NAME=VALUE: variables that the job's programs find when they ask again ({@link NewEnvironment}). All memory must
     * be there at the start, then.
     */
    default List<String> environment() {
        return List.of();
    }

    /** What messages call a process of the image. */
    default String name(ProcessState process) {
        return "process " + process.pid() + " (" + process.name() + ")";
    }

    /** Something that the user should know; the restore goes on. */
    void warn(String what);

    /** A phase of the restore has ended. */
    default void reached(String phase) {}

    /** The new agent's socket, to which the preloaded library's control connection is connected again. */
    Path agentSocket();
}
