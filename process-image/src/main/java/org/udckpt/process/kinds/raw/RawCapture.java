package org.udckpt.process.kinds.raw;

import static org.udckpt.linux.LinuxConstants.POLLHUP;
import static org.udckpt.linux.LinuxConstants.POLLIN;
import static org.udckpt.linux.LinuxConstants.POLLRDHUP;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOCK_RAW;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpTable;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.InternetName;
import org.udckpt.process.kinds.socket.MulticastGroups;
import org.udckpt.process.kinds.socket.SendQueue;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketEvents;
import org.udckpt.process.kinds.socket.SocketOptions;
import org.udckpt.process.kinds.socket.SocketType;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.RawSocket;

/** Raw sockets and ping sockets. Packets that were not read are lost, as any may be: the restart says so. */
final class RawCapture implements SocketCapture {
    static final int IPPROTO_ICMP = 1, IPPROTO_ICMPV6 = 58;

    private final ObjectTable table;

    RawCapture(CaptureScope scope) {
        this.table = scope.table();
    }

    @Override
    public boolean takes(SocketType type) {
        return type.internet(SOCK_RAW) || type.internet(SOCK_DGRAM, IPPROTO_ICMP)
                || type.internet(SOCK_DGRAM, IPPROTO_ICMPV6);
    }

    @Override
    public long read(OpenDescriptor open, int socket, SocketType type) {
        long id = table.newId();
        table.add(read(open, socket, type, id));
        return id;
    }

    /** @param socket a duplicate of {@code open} */
    private static RawSocket read(OpenDescriptor open, int socket, SocketType type, long id) {
        int events = SocketEvents.of(socket);
        if ((events & (POLLRDHUP | POLLHUP)) != 0) {
            throw open.refuse(type + " that was shut (shutdown(2)) cannot be checkpointed; close it first");
        }
        if (SendQueue.bytes(socket) > 0 && !SendQueue.becomesEmpty(socket)) {
            throw open.failed(type + " collects a datagram that is not sent yet (MSG_MORE)");
        }
        MulticastGroups.refuseMember(open, socket, type.toString());
        try (SocketOptions options = new SocketOptions(type.type(), type.protocol(), PacketOptions.RAW)) {
            return new RawSocket(id, open.openFlags(), type.domain(), type.type(), type.protocol(),
                    InternetName.of(Syscall.GETSOCKNAME, socket), remote(open, socket, type),
                    SocketOptions.withLinger(options.changed(type.domain(), socket), socket),
                    SocketOptions.receiveTimeoutUs(socket), SocketOptions.sendTimeoutUs(socket),
                    SocketOptions.chosenSendBuffer(socket), SocketOptions.chosenReceiveBuffer(socket),
                    SocketOptions.device(socket), (events & POLLIN) != 0);
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.EPERM || e.errno() == LinuxError.EACCES) {
                throw open.refuse(type + " can be checkpointed and restarted only by a user who may make one; close it "
                        + "first");
            }
            throw e;
        }
    }

    /** A raw socket's other end has no port, and getpeername(2) then tells of none. */
    private static byte[] remote(OpenDescriptor open, int socket, SocketType type) {
        byte[] told = InternetName.of(Syscall.GETPEERNAME, socket);
        String table = type.type() == SOCK_RAW ? "raw" : "icmp";
        return told.length > 0
                ? told
                : TcpTable.remote(table, open.stat().inode())
                        .map(address -> address.name(type.domain()))
                        .orElse(told);
    }
}
