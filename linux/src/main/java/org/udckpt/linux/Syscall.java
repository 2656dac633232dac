package org.udckpt.linux;

/**
 * Raw system calls of Linux on x86-64, through libc's {@code syscall(2)}. Every method returns the result, or
 * {@code -errno}: nothing is thrown, so that a caller on the stop path decides what an error means.
 */
public final class Syscall {
    public static final int READ = 0, WRITE = 1, OPEN = 2, CLOSE = 3, STAT = 4, FSTAT = 5, POLL = 7, LSEEK = 8,
            MMAP = 9, MPROTECT = 10, MUNMAP = 11,
            BRK = 12, RT_SIGACTION = 13, RT_SIGPROCMASK = 14, RT_SIGRETURN = 15, IOCTL = 16, PREAD64 = 17,
            PWRITE64 = 18, SCHED_YIELD = 24,
            MREMAP = 25, MADVISE = 28, SHMGET = 29, SHMAT = 30, SHMCTL = 31, DUP2 = 33, NANOSLEEP = 35, GETITIMER = 36,
            SETITIMER = 38,
            GETPID = 39, SENDFILE = 40, SOCKET = 41, CONNECT = 42, SENDTO = 44, RECVFROM = 45, SENDMSG = 46,
            RECVMSG = 47, SHUTDOWN = 48, BIND = 49, LISTEN = 50,
            GETSOCKNAME = 51, GETPEERNAME = 52, SOCKETPAIR = 53, SETSOCKOPT = 54, GETSOCKOPT = 55, CLONE = 56,
            EXIT = 60, WAIT4 = 61,
            KILL = 62, SEMGET = 64, SEMOP = 65, SEMCTL = 66, SHMDT = 67, MSGGET = 68, MSGSND = 69, MSGRCV = 70,
            MSGCTL = 71, FCNTL = 72, FLOCK = 73, FSYNC = 74, FTRUNCATE = 77, CHDIR = 80, FCHDIR = 81,
            READLINK = 89, FCHMOD = 91, FCHOWN = 93, UMASK = 95, PTRACE = 101, GETEUID = 107, GETPPID = 110,
            SETGROUPS = 116, PIVOT_ROOT = 155, UMOUNT2 = 166, SETRESUID = 117, SETRESGID = 119, SETFSUID = 122,
            SETFSGID = 123, SETPGID = 109,
            SETSID = 112, GETPGID = 121, GETSID = 124,
            RT_SIGPENDING = 127, RT_SIGQUEUEINFO = 129, SIGALTSTACK = 131,
            PERSONALITY = 135, STATFS = 137, FSTATFS = 138, GETPRIORITY = 140, SETPRIORITY = 141, SCHED_GETPARAM = 143,
            SCHED_SETSCHEDULER = 144,
            SCHED_GETSCHEDULER = 145, PRCTL = 157, ARCH_PRCTL = 158, CHROOT = 161, MOUNT = 165, GETTID = 186,
            UNAME = 63, SETHOSTNAME = 170,
            SETDOMAINNAME = 171,
            FUTEX = 202, SCHED_SETAFFINITY = 203, SCHED_GETAFFINITY = 204,
            GETDENTS64 = 217, SET_TID_ADDRESS = 218,
            RESTART_SYSCALL = 219, TIMER_CREATE = 222, TIMER_SETTIME = 223, TIMER_GETTIME = 224, TIMER_GETOVERRUN = 225,
            TIMER_DELETE = 226,
            CLOCK_GETTIME = 228, IOPRIO_SET = 251, IOPRIO_GET = 252, EXIT_GROUP = 231, EPOLL_WAIT = 232,
            EPOLL_CTL = 233, TGKILL = 234,
            MQ_OPEN = 240, MQ_UNLINK = 241, MQ_TIMEDSEND = 242, MQ_NOTIFY = 244, MQ_GETSETATTR = 245,
            OPENAT = 257, MKDIRAT = 258, MKNODAT = 259, FCHOWNAT = 260, NEWFSTATAT = 262, UNLINKAT = 263,
            LINKAT = 265, SYMLINKAT = 266, READLINKAT = 267, FCHMODAT = 268, FACCESSAT = 269, UTIMENSAT = 280,
            FALLOCATE = 285,
            RENAMEAT2 = 316, UNSHARE = 272, NAME_TO_HANDLE_AT = 303, SETNS = 308, SETXATTR = 188, GETXATTR = 191,
            LISTXATTR = 194,
            OPEN_TREE = 428, MOVE_MOUNT = 429, FSOPEN = 430, FSCONFIG = 431, FSMOUNT = 432, FSPICK = 433,
            MOUNT_SETATTR = 442,
            SET_ROBUST_LIST = 273, GET_ROBUST_LIST = 274, SPLICE = 275, TEE = 276, VMSPLICE = 278, SIGNALFD4 = 289,
            TIMERFD_CREATE = 283,
            TIMERFD_SETTIME = 286, TIMERFD_GETTIME = 287, EVENTFD2 = 290, EPOLL_CREATE1 = 291, DUP3 = 292, PIPE2 = 293,
            RT_TGSIGQUEUEINFO = 297, PRLIMIT64 = 302, PROCESS_VM_READV = 310, PROCESS_VM_WRITEV = 311, KCMP = 312,
            SECCOMP = 317, GETRANDOM = 318, MEMFD_CREATE = 319, MEMBARRIER = 324,
            STATX = 332, RSEQ = 334, PIDFD_SEND_SIGNAL = 424, IO_URING_SETUP = 425, IO_URING_ENTER = 426,
            IO_URING_REGISTER = 427, PIDFD_OPEN = 434, CLONE3 = 435, CLOSE_RANGE = 436,
            OPENAT2 = 437, PIDFD_GETFD = 438;

    public static final int O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0100, O_EXCL = 0200, O_TRUNC = 01000,
            O_APPEND = 02000,
            O_NONBLOCK = 04000, O_DIRECTORY = 0200000, O_NOFOLLOW = 0400000, O_CLOEXEC = 02000000, O_PATH = 010000000,
            O_TMPFILE = 020200000, O_LARGEFILE = 0100000;

    private Syscall() {}

    public static long call(long number, long a, long b, long c, long d, long e, long f) {
        return NativeCall.syscall(number, a, b, c, d, e, f);
    }

    public static long call(long number) {
        return call(number, 0, 0, 0, 0, 0, 0);
    }

    public static long call(long number, long a) {
        return call(number, a, 0, 0, 0, 0, 0);
    }

    public static long call(long number, long a, long b) {
        return call(number, a, b, 0, 0, 0, 0);
    }

    public static long call(long number, long a, long b, long c) {
        return call(number, a, b, c, 0, 0, 0);
    }

    public static long call(long number, long a, long b, long c, long d) {
        return call(number, a, b, c, d, 0, 0);
    }

    public static long call(long number, long a, long b, long c, long d, long e) {
        return call(number, a, b, c, d, e, 0);
    }
}
