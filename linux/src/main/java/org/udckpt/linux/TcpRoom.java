package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_PEEK;
import static org.udckpt.linux.LinuxConstants.SIOCINQ;
import static org.udckpt.linux.LinuxConstants.SOCK_RCVBUF_LOCK;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_BUF_LOCK;
import static org.udckpt.linux.LinuxConstants.SO_RCVBUF;
import static org.udckpt.linux.LinuxConstants.SO_RCVBUFFORCE;
import static org.udckpt.linux.LinuxConstants.SO_RCVLOWAT;

/**
 * The receive buffer of a TCP socket whose process reads nothing just now. The buffer grows by what is wanted and no
 * more: what the other end was once promised it may send.
 */
public final class TcpRoom {
    private static final int SLACK = 1 << 18, MOST = 1 << 29;

    private final int socket;
    private final int locks;
    private final int before;
    private int requests;

    /** @param socket a descriptor of this process, which stays the caller's */
    public TcpRoom(int socket) {
        this.socket = socket;
        this.locks = get(SO_BUF_LOCK);
        this.before = get(SO_RCVBUF);
    }

    /**
     * Makes room for {@code bytes} beyond those that are unread. SO_RCVLOWAT lets the kernel enlarge a buffer whose
     * size the process has not chosen (tcp_set_rcvlowat, net/ipv4/tcp.c: up to half of net.ipv4.tcp_rmem's maximum);
     * else SO_RCVBUF does, up to net.core.rmem_max, and for root without a limit. Then a look at a byte tells the other
     * end (tcp_cleanup_rbuf).
     */
    public void make(long bytes) {
        // An eighth and a segment: the kernel opens no window that is smaller (__tcp_select_window,
        // net/ipv4/tcp_output.c).
        int wanted = (int) Math.min(MOST, (unread() + bytes) * 9 / 8 + SLACK + ((long) requests << 16));
        requests++;
        if ((locks & SOCK_RCVBUF_LOCK) == 0) {
            int lowest = get(SO_RCVLOWAT);
            check(set(SO_RCVLOWAT, wanted), SO_RCVLOWAT);
            check(set(SO_RCVLOWAT, lowest), SO_RCVLOWAT);
        }
        if (((locks & SOCK_RCVBUF_LOCK) != 0 || requests > 8) && wanted > get(SO_RCVBUF)) {
            enlarge(wanted);
        }
        Syscall.call(Syscall.RECVFROM, socket, Scratch.data().address(), 1, MSG_PEEK | MSG_DONTWAIT, 0, 0);
    }

    private void enlarge(int wanted) {
        long result = set(SO_RCVBUFFORCE, wanted); // doubled by the kernel (socket(7))
        if (result == -LinuxError.EPERM && (locks & SOCK_RCVBUF_LOCK) != 0) {
            result = set(SO_RCVBUF, wanted);
        }
        if (result != -LinuxError.EPERM) {
            check(result, SO_RCVBUFFORCE);
        }
    }

    /** The size that the buffer had at first, as getsockopt(2) tells it. */
    public int sizeBefore() {
        return before;
    }

    /** Whether the process has chosen that size. */
    public boolean chosen() {
        return (locks & SOCK_RCVBUF_LOCK) != 0;
    }

    /**
     * The size is what it was, or less when that was the kernel's choice: it lets it grow again. What is unread stays.
     */
    public void restore() {
        if (requests > 0) {
            check(set(SO_RCVBUF, before / 2), SO_RCVBUF);
            check(set(SO_BUF_LOCK, locks), SO_BUF_LOCK);
        }
    }

    public int unread() {
        LinuxError.check(Syscall.call(Syscall.IOCTL, socket, SIOCINQ, Scratch.data().address()),
                "bytes unread in a TCP socket");
        return Scratch.data().get(JAVA_INT, 0);
    }

    private int get(int option) {
        Scratch.data().set(JAVA_INT, 8, 4);
        check(Syscall.call(Syscall.GETSOCKOPT, socket, SOL_SOCKET, option, Scratch.data().address(),
                Scratch.data().address() + 8), option);
        return Scratch.data().get(JAVA_INT, 0);
    }

    private long set(int option, int value) {
        Scratch.data().set(JAVA_INT, 0, value);
        return Syscall.call(Syscall.SETSOCKOPT, socket, SOL_SOCKET, option, Scratch.data().address(), 4);
    }

    private static void check(long result, int option) {
        LinuxError.check(result, "socket option " + option);
    }
}
