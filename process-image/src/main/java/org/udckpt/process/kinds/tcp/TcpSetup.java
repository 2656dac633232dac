package org.udckpt.process.kinds.tcp;

import static org.udckpt.linux.LinuxConstants.SO_RCVBUF;
import static org.udckpt.linux.LinuxConstants.SO_SNDBUF;
import static org.udckpt.linux.LinuxConstants.TCP_CONGESTION;

import java.nio.charset.StandardCharsets;
import org.udckpt.linux.Files;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.kinds.socket.PacketSetup;
import org.udckpt.process.kinds.socket.SocketTimeouts;
import org.udckpt.process.model.BindOptions;
import org.udckpt.process.model.SocketLevel;
import org.udckpt.process.model.TcpOptions;
import org.udckpt.process.model.TcpSocket;

/** The options of a TCP socket, in the two moments in which they are set. */
final class TcpSetup {
    private static final int SO_LINGER = 13;

    private TcpSetup() {}

    /** A new socket that may share its port, with what cannot be changed once it has one. */
    static int open(TcpSocket model) {
        int socket = TcpCalls.open(model.domain(), model.protocol());
        try {
            TcpCalls.option(socket, TcpOptions.SOL_SOCKET, TcpOptions.SO_REUSEADDR, 1);
            PacketSetup.device(socket, model.device());
            for (int i = 0; i < model.options().length; i += 3) {
                if (early(model, i)) {
                    TcpCalls.option(socket, model.options()[i], model.options()[i + 1], model.options()[i + 2]);
                }
            }
            return socket;
        } catch (RuntimeException e) {
            Files.close(socket);
            throw e;
        }
    }

    private static boolean early(TcpSocket socket, int i) {
        return socket.options()[i] == TcpOptions.SOL_IPV6 && socket.options()[i + 1] == TcpOptions.IPV6_V6ONLY;
    }

    private static boolean sharing(TcpSocket socket, int i) {
        return socket.options()[i] == TcpOptions.SOL_SOCKET && socket.options()[i + 1] == TcpOptions.SO_REUSEADDR;
    }

    /** All the rest but SO_REUSEADDR. */
    static void options(TcpSocket model, int socket) {
        for (int i = 0; i < model.options().length; i += 3) {
            if (SocketLevel.settable(model.options(), i) && !early(model, i) && !sharing(model, i)
                    && !BindOptions.later(model.options(), i)) {
                TcpCalls.option(socket, model.options()[i], model.options()[i + 1], model.options()[i + 2]);
            }
        }
        if (model.sendBuffer() > 0) {
            // the kernel doubles what it is given (socket(7))
            TcpCalls.option(socket, TcpOptions.SOL_SOCKET, SO_SNDBUF, model.sendBuffer() / 2);
        }
        if (model.receiveBuffer() > 0) {
            TcpCalls.option(socket, TcpOptions.SOL_SOCKET, SO_RCVBUF, model.receiveBuffer() / 2);
        }
        if (model.lingerSeconds() >= 0) {
            TcpCalls.option(socket, TcpOptions.SOL_SOCKET, SO_LINGER, 1, model.lingerSeconds());
        }
        if (!model.congestion().isEmpty()) {
            TcpCalls.option(
                    socket, TcpOptions.SOL_TCP, TCP_CONGESTION, model.congestion().getBytes(StandardCharsets.UTF_8));
        }
        SocketTimeouts.set(socket, SocketTimeouts.SO_RCVTIMEO, model.receiveTimeoutUs());
        SocketTimeouts.set(socket, SocketTimeouts.SO_SNDTIMEO, model.sendTimeoutUs());
    }

    /** What had to be otherwise as long as not all sockets were bound. */
    static void later(TcpSocket model, int socket) {
        for (int i = 0; i < model.options().length; i += 3) {
            if (BindOptions.later(model.options(), i)) {
                TcpCalls.option(socket, model.options()[i], model.options()[i + 1], model.options()[i + 2]);
            }
        }
    }

    /** SO_REUSEADDR of a socket without a connection is what it was. */
    static void share(TcpSocket model, int socket) {
        int shared = 0;
        for (int i = 0; i < model.options().length; i += 3) {
            shared = sharing(model, i) ? model.options()[i + 2] : shared;
        }
        TcpCalls.option(socket, TcpOptions.SOL_SOCKET, TcpOptions.SO_REUSEADDR, shared);
    }

    /** The directions that the process itself had shut, and the flags of open(2). */
    static void finish(TcpSocket model, int socket) {
        if ((model.shutdown() & 2) != 0) {
            TcpCalls.shutdown(socket, TcpCalls.SHUT_WR);
        }
        if ((model.shutdown() & 1) != 0) {
            TcpCalls.shutdown(socket, TcpCalls.SHUT_RD);
        }
        TcpCalls.flags(socket, model.flags());
    }
}
