package org.udckpt.process.model;

import static org.udckpt.linux.LinuxConstants.SO_BUF_LOCK;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The options that sockets of every family have, with values of an int (socket(7), asm-generic/socket.h). Not here:
 * what a field of a socket's record holds (SO_SNDBUF, SO_RCVTIMEO, ...), and what only the moment knows (SO_ERROR,
 * SO_INCOMING_CPU, ...).
 */
public final class SocketLevel {
    /** Its number in a list of options is the seconds; where it is off, it is not there. */
    public static final int SO_LINGER = 13;
    /** Among a socket's options where it is not the usual protocol of its kind. It cannot be set. */
    public static final int SO_PROTOCOL = 38;

    private static final int[] COMMON = {
            1 /* SO_DEBUG */, TcpOptions.SO_REUSEADDR, 5 /* SO_DONTROUTE */, 6 /* SO_BROADCAST */, 9 /* SO_KEEPALIVE */,
            10 /* SO_OOBINLINE */, 11 /* SO_NO_CHECK */,
            12 /* SO_PRIORITY */, TcpOptions.SO_RCVLOWAT, 29 /* SO_TIMESTAMP */, 35 /* SO_TIMESTAMPNS */,
            36 /* SO_MARK */, 37 /* SO_TIMESTAMPING */, 40 /* SO_RXQ_OVFL */,
            41 /* SO_WIFI_STATUS */, 42 /* SO_PEEK_OFF */, 45 /* SO_SELECT_ERR_QUEUE */, 46 /* SO_BUSY_POLL */,
            47 /* SO_MAX_PACING_RATE */, 60 /* SO_ZEROCOPY */, 63 /* SO_TIMESTAMP_NEW */,
            64 /* SO_TIMESTAMPNS_NEW */, 69 /* SO_PREFER_BUSY_POLL */, 70 /* SO_BUSY_POLL_BUDGET */,
    };
    /** What comes along with messages between processes; SO_BUF_LOCK after the buffers' sizes, which set it. */
    private static final int[] OF_MESSAGES =
            {34 /* SO_PASSSEC */, 76 /* SO_PASSPIDFD */, 83 /* SO_PASSRIGHTS */, SO_BUF_LOCK};

    /**
     * unix(7): {level, name}, in the order in which they are set, when the socket is connected and has its messages.
     */
    public static final int[][] UNIX = with(new int[0][], OF_MESSAGES);

    private SocketLevel() {}

    /** The protocol of a socket with these options. @param usual of its kind */
    public static int protocol(int[] options, int usual) {
        int other = BindOptions.now(options, TcpOptions.SOL_SOCKET, SO_PROTOCOL);
        return other == 0 ? usual : other;
    }

    /** These options of a socket of that protocol, whose kind has usually another one. */
    public static int[] ofProtocol(int protocol, int[] options) {
        int[] all = Arrays.copyOf(options, options.length + 3);
        all[options.length] = TcpOptions.SOL_SOCKET;
        all[options.length + 1] = SO_PROTOCOL;
        all[options.length + 2] = protocol;
        return all;
    }

    /** Whether the option at {@code index} of a list can be set, and does not only tell the protocol. */
    public static boolean settable(int[] options, int index) {
        return options[index] != TcpOptions.SOL_SOCKET || options[index + 1] != SO_PROTOCOL;
    }

    /** What setsockopt(2) is given for the option at {@code index} of a list of options: an int, or struct linger. */
    public static int[] argument(int[] options, int index) {
        boolean linger = options[index] == TcpOptions.SOL_SOCKET && options[index + 1] == SO_LINGER;
        return linger ? new int[]{1, options[index + 2]} : new int[]{options[index + 2]};
    }

    /** The options of a family, then the options of all sockets that are not among them. */
    static int[][] with(int[][] own, int... more) {
        List<int[]> all = new ArrayList<>(List.of(own));
        for (int name : Arrays.stream(new int[][]{COMMON, more}).flatMapToInt(Arrays::stream).toArray()) {
            if (Arrays.stream(own).noneMatch(option -> option[0] == TcpOptions.SOL_SOCKET && option[1] == name)) {
                all.add(new int[]{TcpOptions.SOL_SOCKET, name});
            }
        }
        return all.toArray(int[][]::new);
    }
}
