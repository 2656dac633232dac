package org.udckpt.process.kinds.tcp;

import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;

import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketType;
import org.udckpt.process.model.TcpOptions;

/** TCP sockets, those of each network namespace by themselves: two may have the same addresses and ports. */
final class TcpCapture implements SocketCapture {
    private final ObjectTable objects;
    /** By namespace; null: the one in which the job was started. */
    private final Map<NetworkCalls, TcpConnections> networks = new LinkedHashMap<>();

    TcpCapture(CaptureScope scope) {
        this.objects = scope.table();
    }

    @Override
    public boolean takes(SocketType type) {
        return type.internet(SOCK_STREAM, TcpOptions.SOL_TCP) || type.internet(SOCK_STREAM, TcpOptions.IPPROTO_MPTCP);
    }

    @Override
    public long read(OpenDescriptor open, int socket, SocketType type) {
        long id = objects.newId();
        networks.computeIfAbsent(NetworkCalls.current(), _ -> new TcpConnections(objects)).add(open, id);
        return id;
    }

    @Override
    public void finish() {
        networks.forEach((network, connections) -> NetworkCalls.in(network, connections::read));
    }
}
