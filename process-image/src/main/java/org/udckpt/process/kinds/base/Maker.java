package org.udckpt.process.kinds.base;

import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * A process that is being restored, in which kernel objects are made by injected system calls. It runs nothing of the
 * job yet.
 */
public interface Maker extends NamedProcess {
    /** As the agent numbers it. */
    int hostPid();

    /**
     * By which number it knows a process, a thread or a group of the job: in a pid namespace of the job's own that is
     * another one than the job's. 0: by none.
     */
    int own(int pid);

    /** Number of the rank to which it belongs. */
    int rank();

    /**
     * The result of a call that must succeed; {@code what} names it in the error. Arguments that were put in its
     * scratch memory are gone afterwards.
     */
    long call(String what, long number, long... arguments);

    /** The result, or {@code -errno}. */
    long tryCall(long number, long... arguments);

    /**
     * Opens what is open here once more, as another open file description (proc_pid_fd(5)).
     *
     * @return the descriptor, or {@code -errno}
     */
    long reopen(long descriptor, long flags);

    /** As {@link #call}, in the thread that the job numbers so. */
    long callInThread(int tid, String what, long number, long... arguments);

    /**
     * These few calls in this thread, so many times, without a stop for each. All are made, also behind one that fails;
     * what was put into the scratch memory is gone.
     *
     * @param calls number and arguments of each
     */
    void callsInThread(int tid, int times, List<long[]> calls);

    /** Keeps filters that this thread gets from being asked, until it runs. @throws RuntimeException only root can */
    void suspendCallFilters(int tid);

    /** Puts an argument into its scratch memory until the next call; its address. */
    long bytes(byte[] value);

    /** As {@link #bytes}, with a NUL byte behind it. */
    long string(String value);

    /** A C structure for the next call. */
    Struct structure();

    /** What a call left at {@code address}. */
    byte[] read(long address, int count);

    /** As {@link #read}: an int. */
    int readInt(long address);

    /** The error that a file is not what it was. */
    RuntimeException changed(String what);

    /** A descriptor here of what {@code descriptor} is in another process of the job (pidfd_getfd(2)). */
    default long fetch(int from, long descriptor) {
        int number = own(from);
        if (number == 0) {
            return passed(from, descriptor);
        }
        long handle = call("pidfd_open " + from, Syscall.PIDFD_OPEN, number, 0);
        long fd = tryCall(Syscall.PIDFD_GETFD, handle, descriptor, 0);
        call("close", Syscall.CLOSE, handle);
        return fd == -LinuxError.EPERM ? passed(from, descriptor)
                : LinuxError.check(fd, name() + ": pidfd_getfd " + descriptor + " of process " + from);
    }

    /** The same by way of this process: namespaces that the job has made lie between the two. */
    long passed(int from, long descriptor);
}
