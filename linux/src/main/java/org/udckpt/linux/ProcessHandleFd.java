package org.udckpt.linux;

/**
 * A pidfd: refers to one process, or one thread, even after its number is reused (pidfd_open(2), Linux 5.3; of threads:
 * Linux 6.9). Close it.
 */
public final class ProcessHandleFd implements AutoCloseable {
    private static final int PIDFD_THREAD = 0x80;

    private final int pid;
    private final int fd;

    /** @param pid of a process; or the number of a thread, which shows what its process has open */
    public ProcessHandleFd(int pid) {
        this.pid = pid;
        long opened = Syscall.call(Syscall.PIDFD_OPEN, pid, 0);
        if (opened == -LinuxError.ENOENT || opened == -LinuxError.EINVAL) { // no process has this number
            opened = Syscall.call(Syscall.PIDFD_OPEN, pid, PIDFD_THREAD);
        }
        this.fd = (int) LinuxError.check(opened, "pidfd_open of process " + pid);
    }

    public int pid() {
        return pid;
    }

    /** The descriptor's number. */
    public int number() {
        return fd;
    }

    /**
     * A duplicate, in this process, of descriptor {@code number} of the other one: the same open file description.
     * Close it.
     */
    public int duplicate(int number) {
        return (int) LinuxError.check(Syscall.call(Syscall.PIDFD_GETFD, fd, number, 0),
                "pidfd_getfd of descriptor " + number + " of process " + pid);
    }

    /** False when the process is gone already. */
    public boolean signal(int signal) {
        long result = Syscall.call(Syscall.PIDFD_SEND_SIGNAL, fd, signal, 0, 0);
        if (result == -LinuxError.ESRCH) {
            return false;
        }
        LinuxError.check(result, "signal " + signal + " to process " + pid);
        return true;
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
