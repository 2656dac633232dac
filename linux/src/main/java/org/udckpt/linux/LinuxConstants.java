package org.udckpt.linux;

/**
 * Numbers of Linux on x86-64 under the names of its headers. Error numbers are in {@link LinuxError}, those of calls
 * and the flags that most files are opened with in {@link Syscall}.
 */
public final class LinuxConstants {
    /** Signals (signal(7)). */
    public static final int SIGHUP = 1, SIGINT = 2, SIGQUIT = 3, SIGTRAP = 5, SIGKILL = 9, SIGUSR1 = 10, SIGPIPE = 13,
            SIGTERM = 15, SIGCHLD = 17, SIGCONT = 18, SIGSTOP = 19;

    /** Open files, beside those of {@link Syscall} (open(2), openat2(2), unlink(2), rename(2), statx(2), lseek(2)). */
    public static final int O_NOCTTY = 0400, O_ASYNC = 020000, O_DIRECT = 040000, O_NOATIME = 01000000,
            AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 0x100, AT_REMOVEDIR = 0x200, AT_SYMLINK_FOLLOW = 0x400,
            AT_EMPTY_PATH = 0x1000, RENAME_NOREPLACE = 1, RESOLVE_NO_XDEV = 1, RESOLVE_NO_MAGICLINKS = 2,
            RESOLVE_NO_SYMLINKS = 4, RESOLVE_BENEATH = 8, STATX_BTIME = 0x800, STATX_ATTR_APPEND = 0x20, SEEK_DATA = 3,
            SEEK_HOLE = 4;

    /** Descriptors and locks (fcntl(2), flock(2)). */
    public static final int F_GETFD = 1, F_SETFL = 4, F_GETLK = 5, F_SETLK = 6, F_SETSIG = 10, F_GETSIG = 11,
            F_OFD_SETLK = 37,
            F_DUPFD_CLOEXEC = 1030, F_SETPIPE_SZ = 1031, F_RDLCK = 0, F_WRLCK = 1, F_UNLCK = 2, LOCK_EX = 2,
            LOCK_NB = 4;

    /** Memory (mmap(2), madvise(2), memfd_create(2)). */
    public static final int MAP_PRIVATE = 2, MAP_ANONYMOUS = 0x20, MAP_NORESERVE = 0x4000,
            MAP_FIXED_NOREPLACE = 0x100000, MADV_DONTNEED = 4, MADV_HUGEPAGE = 14, MFD_CLOEXEC = 1;

    /** ioctl of /proc/PID/pagemap: _IOWR('f', 16, 96 bytes), Linux 6.7 (Documentation/admin-guide/mm/pagemap.rst). */
    public static final long PAGEMAP_SCAN = 0xc060_6610L;

    /** Processes (wait4(2), setrlimit(2), prctl(2), capabilities(7), kcmp(2), arch_prctl(2), mount(2), seccomp(2)). */
    public static final int WNOHANG = 1, RLIMIT_DATA = 2, RLIMIT_CORE = 4, RLIMIT_NPROC = 6, RLIMIT_NOFILE = 7,
            RLIMIT_MEMLOCK = 8, RLIMIT_AS = 9, PR_GET_DUMPABLE = 3, PR_SET_DUMPABLE = 4, PR_SET_NAME = 15,
            PR_GET_SECUREBITS = 27,
            PR_SET_SECUREBITS = 28, PR_SET_CHILD_SUBREAPER = 36, PR_SET_SECCOMP = 22, PR_SET_NO_NEW_PRIVS = 38,
            SECBIT_NO_SETUID_FIXUP = 4, KCMP_VM = 1, XTILEDATA = 18, MS_BIND = 4096,
            SECCOMP_MODE_STRICT = 1, SECCOMP_SET_MODE_FILTER = 1, SECCOMP_FILTER_FLAG_TSYNC = 1;

    /** Waiting (poll(2), clock_gettime(2)). */
    public static final int POLLIN = 1, POLLOUT = 4, POLLERR = 8, POLLHUP = 16, POLLRDHUP = 0x2000, CLOCK_REALTIME = 0,
            CLOCK_MONOTONIC = 1, CLOCK_BOOTTIME = 7, CLOCK_REALTIME_ALARM = 8;

    /** Sockets (socket(7), unix(7), tcp(7), recv(2)); FIONREAD and SIOCINQ are one number. */
    public static final int AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16, AF_PACKET = 17,
            SOCK_STREAM = 1, SOCK_DGRAM = 2,
            SOCK_RAW = 3, SOCK_SEQPACKET = 5, SOCK_PACKET = 10, SOL_SOCKET = 1, SO_ERROR = 4, SO_SNDBUF = 7,
            SO_RCVBUF = 8,
            SO_LINGER = 13,
            SO_PASSCRED = 16, SO_PEERCRED = 17, SO_RCVLOWAT = 18, SO_RCVTIMEO = 20, SO_SNDTIMEO = 21,
            SO_BINDTODEVICE = 25, SO_RCVBUFFORCE = 33, SO_ATTACH_REUSEPORT_CBPF = 51, SO_DETACH_REUSEPORT_BPF = 68,
            SO_BUF_LOCK = 72, SOCK_RCVBUF_LOCK = 2, TCP_CONGESTION = 13, SCM_RIGHTS = 1, MSG_PEEK = 2, MSG_TRUNC = 0x20,
            MSG_DONTWAIT = 0x40, MSG_NOSIGNAL = 0x4000, MSG_CMSG_CLOEXEC = 0x40000000, SIOCINQ = 0x541b,
            FIONREAD = 0x541b;

    /** Terminals (ioctl_tty(2), ioctl_console(2)). */
    public static final int TCXONC = 0x540a, TIOCGPGRP = 0x540f, TIOCGWINSZ = 0x5413, TIOCSWINSZ = 0x5414,
            TCGETS2 = 0x802c_542a, TCSETS2 = 0x402c_542b, TCOOFF = 0, TCOON = 1;

    /** Mounts (unshare(2), umount(2), mount(2), mount_setattr(2), open_tree(2), fsconfig(2); linux/mount.h). */
    public static final int CLONE_VM = 0x100, CLONE_FS = 0x200, CLONE_FILES = 0x400, CLONE_SIGHAND = 0x800,
            CLONE_NEWNS = 0x20000, MNT_DETACH = 2,
            MS_RDONLY = 1, MS_REC = 0x4000,
            MS_UNBINDABLE = 1 << 17, MS_PRIVATE = 1 << 18, MS_SLAVE = 1 << 19, MS_SHARED = 1 << 20,
            OPEN_TREE_CLONE = 1, MOVE_MOUNT_F_EMPTY_PATH = 4, MOVE_MOUNT_T_EMPTY_PATH = 0x40,
            MOVE_MOUNT_SET_GROUP = 0x100,
            MOUNT_ATTR_RDONLY = 1, MOUNT_ATTR_NOSUID = 2, MOUNT_ATTR_NODEV = 4, MOUNT_ATTR_NOEXEC = 8,
            MOUNT_ATTR_ATIME = 0x70, MOUNT_ATTR_NOATIME = 0x10, MOUNT_ATTR_STRICTATIME = 0x20,
            MOUNT_ATTR_NODIRATIME = 0x80, MOUNT_ATTR_NOSYMFOLLOW = 0x200000, STATX_MNT_ID = 0x1000,
            FSCONFIG_SET_FLAG = 0, FSCONFIG_SET_STRING = 1, FSCONFIG_CMD_CREATE = 6,
            FSCONFIG_CMD_RECONFIGURE = 7, FSPICK_CLOEXEC = 1, FSPICK_EMPTY_PATH = 8, AT_NO_AUTOMOUNT = 0x800,
            AT_RECURSIVE = 0x8000;

    /** Namespaces, and what ioctl(2) tells of them (namespaces(7), ioctl_ns(2)). */
    public static final int CLONE_NEWIPC = 0x800_0000, CLONE_NEWCGROUP = 0x200_0000, CLONE_NEWTIME = 0x80,
            CLONE_NEWPID = 0x2000_0000,
            CLONE_NEWUSER = 0x1000_0000, CLONE_NEWUTS = 0x400_0000, CLONE_NEWNET = 0x4000_0000, CLONE_PARENT = 0x8000,
            NS_GET_USERNS = 0xb701,
            NS_GET_PARENT = 0xb702, NS_GET_OWNER_UID = 0xb704;

    private LinuxConstants() {}
}
