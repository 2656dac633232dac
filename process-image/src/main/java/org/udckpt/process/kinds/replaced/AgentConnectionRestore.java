package org.udckpt.process.kinds.replaced;

import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.F_SETFL;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;

import org.udckpt.linux.RawText;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.socket.UnixAddress;

/** A fresh control connection to the new agent, for the library's control thread, which waits in read(2). */
final class AgentConnectionRestore implements KindRestore<AgentConnection> {
    private static final int MOST_NAME = 107;

    private final RestoreScope scope;

    AgentConnectionRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public long make(Maker maker, AgentConnection agent) {
        String path = scope.outside(maker, scope.agentSocket().toString());
        byte[] name = RawText.encode(path);
        if (name.length > MOST_NAME) {
            throw maker.unsupported("the path of the agent's socket is longer than 107 bytes: " + path);
        }
        long fd = maker.call("socket", Syscall.SOCKET, AF_UNIX, SOCK_STREAM | Syscall.O_CLOEXEC, 0);
        maker.call("connect to the agent at " + path, Syscall.CONNECT, fd, UnixAddress.put(maker, name),
                UnixAddress.length(name));
        if (KindRestore.nonBlocking(agent.flags()) != 0) {
            maker.call("set O_NONBLOCK", Syscall.FCNTL, fd, F_SETFL, Syscall.O_NONBLOCK);
        }
        return fd;
    }
}
