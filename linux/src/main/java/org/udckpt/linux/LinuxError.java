package org.udckpt.linux;

/** A system call failed. The message names the call, what it was for, and the error. */
public final class LinuxError extends RuntimeException {
    private static final long serialVersionUID = 1L;
    public static final int EPERM = 1, ENOENT = 2, ESRCH = 3, EINTR = 4, EIO = 5, ENXIO = 6, EBADF = 9, ECHILD = 10,
            EAGAIN = 11, ENOMEM = 12, EBUSY = 16,
            EACCES = 13, EFAULT = 14, EEXIST = 17, EXDEV = 18, ENODEV = 19, ENOTDIR = 20, EISDIR = 21, EINVAL = 22,
            EMFILE = 24,
            ENOTTY = 25, ENOSPC = 28, EROFS = 30, ENOSYS = 38,
            EPIPE = 32, ERANGE = 34, ELOOP = 40, EIDRM = 43,
            ENODATA = 61, ENOPROTOOPT = 92, EPROTONOSUPPORT = 93,
            EOPNOTSUPP = 95, EADDRINUSE = 98, EADDRNOTAVAIL = 99, ECONNRESET = 104,
            ENOTCONN = 107, ETIMEDOUT = 110, EDQUOT = 122;
    private static final String[] NAMES = names();

    private final int errno;

    public LinuxError(String what, int errno) {
        super(what + ": " + name(errno));
        this.errno = errno;
    }

    public int errno() {
        return errno;
    }

    /** The file system or the user's quota is full. */
    public boolean isNoSpace() {
        return errno == ENOSPC || errno == EDQUOT;
    }

    /**
     * {@code result} of a raw call when it is not an error; otherwise throws. {@code what} names the call and its
     * object.
     */
    public static long check(long result, String what) {
        if (result < 0 && result > -4096) {
            throw new LinuxError(what, (int) -result);
        }
        return result;
    }

    /**
     * As {@link #check(long, String)}, of {@code what} and {@code object} together: a text for each of thousands of
     * good calls takes time.
     */
    public static long check(long result, String what, String object) {
        return result < 0 ? check(result, what + object) : result;
    }

    /** As {@link #check(long, String, String)}; {@code object}: a descriptor, a process, a thread. */
    public static long check(long result, String what, int object) {
        return result < 0 ? check(result, what + object) : result;
    }

    public static String name(int errno) {
        return errno >= 0 && errno < NAMES.length && NAMES[errno] != null ? NAMES[errno] : "error " + errno;
    }

    private static String[] names() {
        String[] n = new String[128];
        n[EPERM] = "EPERM (not permitted)";
        n[ENOENT] = "ENOENT (no such file)";
        n[ESRCH] = "ESRCH (no such process)";
        n[EINTR] = "EINTR (interrupted)";
        n[EIO] = "EIO (input/output error)";
        n[ENXIO] = "ENXIO (nobody at the other end)";
        n[EBADF] = "EBADF (bad descriptor)";
        n[ECHILD] = "ECHILD (no such child)";
        n[EAGAIN] = "EAGAIN (try again)";
        n[ENOMEM] = "ENOMEM (out of memory)";
        n[EACCES] = "EACCES (permission denied)";
        n[EFAULT] = "EFAULT (bad address)";
        n[EEXIST] = "EEXIST (exists already)";
        n[EXDEV] = "EXDEV (another file system)";
        n[ENOTDIR] = "ENOTDIR (not a directory)";
        n[EISDIR] = "EISDIR (a directory)";
        n[30] = "EROFS (a file system that is mounted read-only)";
        n[39] = "ENOTEMPTY (not an empty directory)";
        n[ELOOP] = "ELOOP (a symbolic link)";
        n[EDQUOT] = "EDQUOT (over the disk quota)";
        n[16] = "EBUSY (in use)";
        n[ENODEV] = "ENODEV (no such device)";
        n[EINVAL] = "EINVAL (invalid argument)";
        n[EMFILE] = "EMFILE (too many open files)";
        n[27] = "EFBIG (file too large)";
        n[ENOTTY] = "ENOTTY (unknown request)";
        n[ENOSPC] = "ENOSPC (no space left)";
        n[ENOSYS] = "ENOSYS (not in this kernel)";
        n[EPIPE] = "EPIPE (nobody reads)";
        n[ECONNRESET] = "ECONNRESET (connection reset)";
        n[EIDRM] = "EIDRM (removed)";
        n[ENODATA] = "ENODATA (no data)";
        n[EOPNOTSUPP] = "EOPNOTSUPP (not supported)";
        return n;
    }
}
