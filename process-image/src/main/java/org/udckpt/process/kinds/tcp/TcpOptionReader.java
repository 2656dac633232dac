package org.udckpt.process.kinds.tcp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;
import static org.udckpt.linux.LinuxConstants.TCP_CONGESTION;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpTable;
import org.udckpt.process.kinds.socket.SocketOptions;
import org.udckpt.process.model.SocketLevel;
import org.udckpt.process.model.TcpOptions;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TcpSocket.TcpState;

/** Reads the options of TCP sockets, and compares them with those of a new one. Close it. */
final class TcpOptionReader implements AutoCloseable {
    private static final int TCP_ULP = 31, TCP_MAXSEG = 2;
    /** MAX_TCP_WINDOW (net/tcp.h). */
    private static final int MOST_MAXSEG = 32767;

    private final ProtocolOptions usual = new ProtocolOptions(TcpOptions.SOL_TCP);
    private final ProtocolOptions ofMultipath = new ProtocolOptions(TcpOptions.IPPROTO_MPTCP);

    /** The options of the sockets of one protocol. */
    private static final class ProtocolOptions implements AutoCloseable {
        private final SocketOptions always;
        private final SocketOptions unconnected;

        ProtocolOptions(int protocol) {
            always = new SocketOptions(SOCK_STREAM, protocol, TcpOptions.CARRIED);
            unconnected = new SocketOptions(SOCK_STREAM, protocol, TcpOptions.UNCONNECTED);
        }

        int[] changed(TcpEnd end, TcpState state) {
            int[] changed = always.changed(end.domain, end.socket());
            boolean connected = state != TcpState.UNCONNECTED && state != TcpState.LISTENING;
            int[] more = connected ? new int[0] : withoutLeftSize(unconnected.changed(end.domain, end.socket()));
            int[] all = Arrays.copyOf(changed, changed.length + more.length);
            System.arraycopy(more, 0, all, changed.length, more.length);
            return end.multipath ? SocketLevel.ofProtocol(TcpOptions.IPPROTO_MPTCP, all) : all;
        }

        /**
         * TCP_MAXSEG of a socket that was connected before (connect(2), AF_UNSPEC) can be what that connection had left
         * (mss_cache), which over loopback is more than anybody may set.
         */
        private static int[] withoutLeftSize(int[] options) {
            int[] kept = new int[options.length];
            int length = 0;
            for (int i = 0; i < options.length; i += 3) {
                if (options[i] != TcpOptions.SOL_TCP || options[i + 1] != TCP_MAXSEG || options[i + 2] <= MOST_MAXSEG) {
                    System.arraycopy(options, i, kept, length, 3);
                    length += 3;
                }
            }
            return Arrays.copyOf(kept, length);
        }

        @Override
        public void close() {
            always.close();
            unconnected.close();
        }
    }

    /** Whether the other end's address is one of this machine. */
    static boolean isLocal(TcpEnd end) {
        int probe = (int) LinuxError.check(
                NetworkCalls.socket(end.domain, SOCK_STREAM | Syscall.O_CLOEXEC, 0), "a TCP socket");
        try {
            MemorySegment data = Scratch.data();
            MemorySegment.copy(end.remote, 0, data, JAVA_BYTE, 0, end.remote.length);
            data.set(JAVA_BYTE, 2, (byte) 0); // any port
            data.set(JAVA_BYTE, 3, (byte) 0);
            long result = Syscall.call(Syscall.BIND, probe, data.address(), end.remote.length);
            if (result == -LinuxError.EADDRNOTAVAIL) {
                return false;
            }
            LinuxError.check(result, "bind to the address of " + end);
            return true;
        } finally {
            Files.close(probe);
        }
    }

    TcpSocket record(TcpEnd end, TcpState state, long peer, byte[] queued, int shutdown, int backlog) {
        refuseOddities(end);
        int socket = end.socket();
        String congestion = congestion(socket);
        ProtocolOptions options = end.multipath ? ofMultipath : usual;
        boolean calling = state == TcpState.UNCONNECTED && end.state() != TcpTable.CLOSE;
        byte[] remote = calling || state == TcpState.CLOSED && end.remote.length == 0 ? end.formerRemote() : end.remote;
        return new TcpSocket(end.id, end.open.openFlags(), end.domain, state, peer, end.local, remote, queued, shutdown,
                backlog, options.changed(end, state), SocketOptions.receiveTimeoutUs(socket),
                SocketOptions.sendTimeoutUs(socket), SocketOptions.linger(socket),
                SocketOptions.chosenSendBuffer(socket), end.chosenReceiveBuffer(),
                congestion.equals(congestion(options.always.model(end.domain))) ? "" : congestion,
                SocketOptions.device(socket));
    }

    private static String congestion(int socket) {
        return SocketOptions.text(socket, TcpOptions.SOL_TCP, TCP_CONGESTION);
    }

    private static void refuseOddities(TcpEnd end) {
        String layer = SocketOptions.text(end.socket(), TcpOptions.SOL_TCP, TCP_ULP);
        if (!layer.isEmpty() && !end.multipath) { // which is such a layer
            throw end.open.refuse(end + ": a TCP socket with the kernel's " + layer
                    + " layer (TCP_ULP) cannot be checkpointed; turn that layer off");
        }
    }

    @Override
    public void close() {
        usual.close();
        ofMultipath.close();
    }
}
