package org.udckpt.process.kinds.base;

import java.util.List;
import java.util.Set;
import org.udckpt.linux.Files;

/** A process of the job that stands still. Pids are the agent's, except where a name says namespace. */
public interface StoppedProcess {
    /** As the agent numbers it. */
    int pid();

    /**
     * The number, here, of a thread that lives: /proc/TASK has what the process has, and kcmp(2) and pidfd_open(2) take
     * it. It is {@link #pid}, unless the main thread has ended.
     */
    default int task() {
        return pid();
    }

    /** As the job numbers it. */
    int namespacePid();

    /** In how many pid namespaces of the job's own it is, one in the other, below that in which the job was started. */
    default int pidNamespaces() {
        return 0;
    }

    /** Whether it is in any of these. */
    default boolean inPidNamespace() {
        return pidNamespaces() > 0;
    }

    /** As it numbers itself (getpid(2)): in a pid namespace of the job's own that is another number. */
    default int ownPid() {
        return namespacePid();
    }

    /** The job's number of what it numbers so: of one of its threads, of its group or session; 0: it is none. */
    default int ofOwn(int number) {
        return number;
    }

    /** The job's number of any process that its pid namespace numbers so; 0: it is nothing of the job that runs. */
    default int ofNamespace(int number) {
        return number;
    }

    /** The job's number of what its /proc names so; 0: it is nothing of the job. */
    default int ofProc(int number) {
        return number;
    }

    /** The process group as the job numbers it. */
    int namespaceGroup();

    /** The number, as the job numbers it, of the thread with that number here; 0: it has no such thread. */
    int namespaceThread(int tid);

    /** All its threads, as the job numbers them. */
    Set<Integer> namespaceThreads();

    /** A rank's first process. */
    boolean root();

    /** Whether other file systems may be mounted for it than for this process (mount_namespaces(7)). */
    boolean hasMountsOfItsOwn();

    /** Its root directory (chroot(2)), as this process names it. */
    default String rootDirectory() {
        return "/";
    }

    /**
     * What leads to a path of its mounts when it stands before the path: a restarted job has mounts of its own, /proc
     * and /dev/pts among them.
     */
    default String mounts() {
        return "/proc/" + task() + "/root";
    }

    /** The mount namespace that it has made or entered; 0: that in which the job was started. */
    default int mountNamespace() {
        return 0;
    }

    /** The number of the IPC namespace that it has made or entered; 0: that in which the job was started. */
    default long ipcNamespace() {
        return 0;
    }

    /** What leads to a path of it, for this process. */
    default String seen(String path) {
        return mounts() + path;
    }

    /** Where a path of it is in the namespace in which the job was started; null: on a file system of the job's own. */
    default String outside(String path) {
        return path;
    }

    /**
     * Whether a file is on a file system that only mount namespaces of the job have.
     *
     * @param through a path of this process that leads to it
     */
    default boolean ownsFileSystem(Files.Stat file, String through) {
        return false;
    }

    /** Whether it had the file of that name before it was in its mount namespace; that is remembered. */
    default boolean fromOutside(String path, Files.Stat file) {
        return false;
    }

    /** Whether its working directory has lost its name. */
    boolean workingDirectoryDeleted();

    /** Filters of system calls that its threads have installed: those of each thread in their order. */
    default List<CallFilter> callFilters() {
        return List.of();
    }

    /** Its threads that are in other control groups than the one in which its rank was started. */
    default List<GroupMember> groupMembers() {
        return List.of();
    }

    /** Its threads that have working directories of their own. */
    default List<ThreadPlace> threadPlaces() {
        return List.of();
    }

    /**
     * Whether it stands for what its process has no descriptor of: what is in flight in its unix sockets, which this
     * process has open, or what one of its threads has alone.
     */
    default boolean inFlight() {
        return false;
    }

    /** Numbers of descriptors that belong to the library and not to the job. */
    int[] ownedDescriptors();

    /**
     * The refusal of a descriptor that cannot be captured: names the process and the descriptor, and says what to do.
     */
    RuntimeException refuse(int descriptor, String reason);

    /** As {@link #refuse(int, String)}, of the process itself. */
    RuntimeException refuse(String reason);

    /** As {@link #refuse(int, String)}, but another capture may succeed. */
    RuntimeException failed(int descriptor, String reason);

    /** As {@link #failed(int, String)}, of the process itself. */
    RuntimeException failed(String reason);
}
