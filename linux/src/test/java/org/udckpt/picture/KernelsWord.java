package org.udckpt.picture;

import static org.udckpt.picture.MayDiffer.line;
import static org.udckpt.picture.MayDiffer.part;

import java.util.List;
import java.util.stream.Stream;
import org.udckpt.linux.User;

/**
 * What the kernel may say otherwise of a process after a restart: all of it. docs/internals/restore.md, "What differs
 * after a restore", has what a program may notice.
 */
public final class KernelsWord {
    private static final List<MayDiffer> AFTER_RESTART = List.of(
            // What only counts or measures.
            line("status (Vm(Peak|Size|Pin|HWM|RSS|Data|Stk|Exe|Lib|PTE|PMD|Swap)|Rss\\w+|FDSize|HugetlbPages)$",
                    "sizes: they follow from what is mapped, and from which pages have been touched"),
            line("status (non)?voluntary_ctxt_switches$", "counts of the scheduler, from the start of the task"),
            line("stat (minflt|cminflt|majflt|cmajflt|utime|stime|cutime|cstime|delayacct_blkio_ticks|"
                    + "guest_time|cguest_time)$",
                    "counts from the start of the task; the accounting of a job is its launcher's"),
            line("stat (starttime|vsize|rss|wchan|processor)$", "when and where the task was made, and sizes as above"),
            line("status SigQ$", "how many signals wait for all processes of this user, the restore's own among them"),
            line("stat flags$",
                    "the kernel's notes on the task (PF_*): forked and not executed yet, superuser's rights used, ..."),
            // The stop itself.
            line("status SigBlk$|stat (blocked|kstkesp|kstkeip)$",
                    "calls are injected in the stop of a capture: all is blocked; the masks that come back are "
                            + "signals.c's"),
            line("(status State|stat state)$", "in the stop of a tracer, or just before it"),
            // Where the processes are.
            line("sessionid$", "the kernel counts logins; who has none is given a number with the login user"),
            line("link ns/|mountinfo$|timens_offsets|uid_map$|gid_map$|setgroups$",
                    "a restart has namespaces of its own: docs/internals/restore.md"),
            line("autogroup",
                    "a number of the session; its weight against other sessions is docs/internals/attributes.md's"),
            // Numbers of kernel objects.
            line("fdinfo (mnt_id|ino)$",
                    "numbers that only name what is shared: who shares it is compared as \"description\""),
            // Terminals.
            part("stat device rdev$", "(?<=^88)[0-9a-f]{2}$",
                    "a terminal whose master has gone has no number; that of others is compared by pty.c"),
            // Threads of the kernel that work for an io_uring.
            line("fdinfo Sq(Thread|ThreadCpu|TotalTime|WorkTime)$", "they are made anew, and count from then on"),
            line("stat num_threads$|status Threads$", "they are among them; the job's own are compared one by one"),
            part("fdinfo $", "(?<=\\d: (socket|pipe):\\[)\\d+(?=\\]$)",
                    "the number of a registered file; which one it is, io_uring_files.c asks"),
            // Descriptors of processes.
            line("fdinfo (Pid|NSpid)$", "the number outside of the job's namespace; what the job sees is pidfd.c's"),
            line("stat other mtime$", "of a descriptor of a process: when the process was made"),
            // Times of files.
            line("stat (file|directory|fifo|socket|device|memory|other|kernel's) [ac]time$",
                    "when it was last read cannot be kept by who reads it, and nobody can set the other"),
            line("stat (fifo|socket|directory|device|kernel's) mtime$",
                    "of what is made again in the course of the restart, or of what names are made in"),
            line("stat queue [acm]time$", "of its last message, which a checkpoint takes out and sends again"),
            // Files.
            part("map \\S+ file$", "^/(dev/zero|memfd:shared-anonymous) ",
                    "nameless shared memory has become a memfd: docs/internals/restore.md"),
            part("fd \\d+ link$", "^/(dev/zero|memfd:shared-anonymous) ", "such memory, opened by its mapping's link"),
            part("fd \\d+ link$|map \\S+ file$", "^/.*/(?=[^/]* \\(deleted\\))",
                    "a deleted file is made again in a directory of its own, where nobody can put another in its "
                            + "place"),
            part("fd \\d+ link$", "#\\d+ \\(deleted\\)$", "a file that never had a name shows its inode"),
            part("fd \\d+ link$", "^(/proc/)?\\d+(/task/\\d+)?(?=/(stat|status|comm|mountinfo)$| [(]deleted[)]$)",
                    "the number of a process that has ended is another's then: ended_owner.c"),
            part("fd \\d+ link$", "(?<=^[a-z]{2,9}:\\[)\\d+(?=\\]$)",
                    "a namespace that the process is in: namespace_files.c"),
            // Sockets.
            part("inet SOL_SOCKET 18$", "^[01]$",
                    "SO_RCVLOWAT: 0 of what a Multipath TCP listener has accepted, and setsockopt takes 0 for 1"),
            line("inet IPPROTO_TCP 24$", "TCP_TIMESTAMP: a clock of the connection, which has begun anew"),
            line("inet SOL_SOCKET 49$", "SO_INCOMING_CPU: where the last packet came in"),
            line("inet IPPROTO_TCP (2|10|12)$",
                    "TCP_MAXSEG, TCP_WINDOW_CLAMP and TCP_QUICKACK as the new connection has found them: "
                            + "docs/internals/restore.md"),
            line("SOL_SOCKET 55$|SIOCOUTQ$",
                    "SO_MEMINFO: how much memory what is queued takes; the kernel joins some, and counts it for "
                            + "whoever sent it again"),
            line("left unix (SO_PEERCRED|SOL_SOCKET 59)$",
                    "SO_PEERCRED and SO_PEERGROUPS of a datagram socket that had been connected by connect(2), and "
                            + "whose peer has closed: docs/internals/restore.md"),
            part("unix diag$", "(?<=type 2, state )\\d+",
                    "whether a datagram socket has been called by others; nothing depends on it"),
            line("inet IPPROTO_IP 33$|inet IPPROTO_IPV6 1[78]$",
                    "IP_MULTICAST_TTL and _IF of TCP connections that were accepted, for which they mean nothing"),
            // Known limits, of which docs/internals/restore.md tells.
            part("tfd$", "events: 400000(00|18)", "a disarmed EPOLLONESHOT entry tells a hang-up"),
            part("fdinfo flags$", "^0(20300|100)(?=00[0-2]$)",
                    "O_TMPFILE: a file that never had a name cannot be given one any more (linkat(2))"),
            part("map \\S+ VmFlags$", " sh(?= mr me ms)",
                    "a shared mapping of a memfd under F_SEAL_FUTURE_WRITE, which nobody can write to either way"),
            line("inet IPPROTO_IPV6 26$", "IPV6_V6ONLY of a connection, where it means nothing"),
            line("inet getsockname$",
                    "the port of a socket that the kernel had chosen, and whose connection has ended"),
            line("inet SOL_SOCKET [78]$",
                    "SO_SNDBUF and SO_RCVBUF as the kernel has grown them; those of a process: tcp_socket.c"),
            // Files without a name.
            part("link of a device$", "^(/.* \\(deleted\\)|/dev/\\w+)$",
                    "a device whose node has gone is its number: docs/internals/kinds.md"),
            line("stat (fifo|device) (links|mode)$", "of a node or a FIFO that has gone"),
            line("inet SOL_SOCKET 2$",
                    "SO_REUSEADDR: a capture sets it, also in the job that goes on: docs/internals/kinds.md, tcp"),
            part("status (SigPnd|ShdPnd)$", "\\b17 ",
                    "SIGCHLD of a child that has stopped may be told once more: docs/internals/restore.md"),
            part("status ShdPnd$", "\\b(19|2[0-2]) ",
                    "a process that had been stopped is stopped by the same signal as soon as it is let go"),
            // Time that passes.
            part("status (SigPnd|ShdPnd)$", "\\b(14|26|27|3[4-9]) ",
                    "interval and POSIX timers (the programs' have SIGALRM, SIGVTALRM, SIGPROF and the first "
                            + "real-time signals) run on in the stop"),
            line("stat signal$", "the same in decimal"),
            line("fdinfo (it_value|ticks)$", "timers run: what is left is timerfd.c's and timer_kinds.c's"),
            // Children that have ended.
            line("zombie (status (SigPnd|ShdPnd|SigIgn|SigCgt|Cap\\w+)|stat (sigignore|sigcatch))$",
                    "nobody asks a process that has ended for its signals and rights"));

    /** Where an ordinary user has restarted, in a user namespace with one user and one group. */
    private static final List<MayDiffer> OF_A_USER = List.of(
            line("stat device owner$", "a terminal's group, and root, are nobody there"));

    private KernelsWord() {}

    public static List<MayDiffer> afterRestart() {
        return User.id() == 0 ? AFTER_RESTART : Stream.concat(AFTER_RESTART.stream(), OF_A_USER.stream()).toList();
    }
}
