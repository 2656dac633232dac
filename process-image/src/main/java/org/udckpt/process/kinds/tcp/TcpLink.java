package org.udckpt.process.kinds.tcp;

import java.util.List;
import java.util.function.Consumer;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpCalls;
import org.udckpt.linux.TcpTable;
import org.udckpt.process.kinds.base.NamedProcess;
import org.udckpt.process.kinds.socket.TakenPorts;
import org.udckpt.process.model.TcpOptions;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TcpSocket.TcpState;
import org.udckpt.process.names.Holders;

/**
 * Connects two sockets of this process between given addresses and ports. What the killed job has left of the same
 * connection (TIME_WAIT, for a minute) lets nobody call from its own end, but does let it be called (RFC 9293,
 * 3.10.7.4): so the ends take turns at calling.
 */
final class TcpLink {
    private static final long TIMEOUT_NS = 65_000_000_000L; // TIME_WAIT and a little (TCP_TIMEWAIT_LEN, net/tcp.h)
    private static final long MOMENT_NS = 500_000_000L;
    private static final int PAUSE_MS = 50;

    /** Named in errors. */
    private final NamedProcess owner;
    private final Consumer<TcpSocket> waits;
    private final long begun = System.nanoTime();

    /** @param waits is told when it takes longer than a moment */
    TcpLink(NamedProcess owner, Consumer<TcpSocket> waits) {
        this.owner = owner;
        this.waits = waits;
    }

    /** A new socket of the model's protocol, which not each kernel has. */
    int open(TcpSocket model) {
        try {
            return TcpSetup.open(model);
        } catch (LinuxError e) {
            boolean none = e.errno() == LinuxError.EPROTONOSUPPORT || e.errno() == LinuxError.ENOPROTOOPT;
            if (model.protocol() != TcpOptions.IPPROTO_MPTCP || !none) {
                throw e;
            }
            throw owner.unsupported(named(model) + ": this machine has no Multipath TCP; turn it on (sysctl "
                    + "net.mptcp.enabled=1), or restart on a machine that has it");
        }
    }

    /** {first's descriptor, second's}. Each has its own address as {@code local} and the other's as {@code remote}. */
    int[] connect(TcpSocket first, TcpSocket second) {
        while (true) {
            int[] pair = call(first, second);
            if (pair != null) {
                return pair;
            }
            pair = call(second, first);
            if (pair != null) {
                return new int[]{pair[1], pair[0]};
            }
            pause(first);
        }
    }

    /** {called, calling}; null: not now. */
    private int[] call(TcpSocket called, TcpSocket calling) {
        int listener = TcpSetup.open(called);
        try {
            PortBinding binding = bind(listener, called);
            if (!binding.bound()) {
                return null;
            }
            TcpCalls.listen(listener, 1);
            int client = client(calling);
            if (client < 0) {
                return null;
            }
            int accepted = accept(listener, client, calling);
            binding.end(accepted);
            return new int[]{accepted, client};
        } finally {
            Files.close(listener);
        }
    }

    private int accept(int listener, int client, TcpSocket calling) {
        boolean done = false;
        try {
            int socket = accept(listener, TcpAddress.of(calling.local()));
            done = true;
            return socket;
        } finally {
            if (!done) {
                Files.close(client);
            }
        }
    }

    /** The connection that comes from there. */
    int accept(int listener, TcpAddress from) {
        int socket = TcpCalls.accept(listener, from);
        if (socket < 0) {
            throw owner.failed(
                    "a TCP connection from " + from + " did not arrive on this machine; is local traffic filtered?");
        }
        return socket;
    }

    /** A socket that has called its remote address from its local one, or -1: not now. */
    private int client(TcpSocket calling) {
        int client = TcpSetup.open(calling);
        boolean done = false;
        try {
            PortBinding binding = bind(client, calling);
            binding.end(client);
            done = binding.bound() && connected(client, calling);
            return done ? client : -1;
        } finally {
            if (!done) {
                Files.close(client);
            }
        }
    }

    /** One whose other end is not to be accepted. */
    int waiting(TcpSocket calling) {
        while (true) {
            int client = client(calling);
            if (client >= 0) {
                return client;
            }
            pause(calling);
        }
    }

    /** Not bound: the port is held by what is on its way out. */
    PortBinding bind(int socket, TcpSocket model) {
        PortBinding binding = PortBinding.bind(socket, model.local(), model.state() != TcpState.LISTENING);
        if (binding.bound() || binding.leaving()) {
            return binding;
        }
        long result = binding.result();
        TcpAddress local = TcpAddress.of(model.local());
        String what = "bind " + named(model) + ": ";
        if (result == -LinuxError.EADDRNOTAVAIL) {
            throw owner.unsupported(what
                    + "this machine does not have that address; restart on a machine that has it, or let the job "
                    + "talk over "
                    + "127.0.0.1");
        }
        if (result == -LinuxError.EADDRINUSE) {
            throw owner.inUse(what + "port " + local.port() + " " + TakenPorts.holder("tcp", local.port()));
        }
        throw owner.failed(what + LinuxError.name((int) -result));
    }

    private boolean connected(int socket, TcpSocket model) {
        long result = TcpCalls.connect(socket, model.remote());
        if (result == -LinuxError.EADDRNOTAVAIL) {
            refuseLiving(model);
            return false;
        }
        if (result < 0) {
            throw owner.failed("connect " + named(model) + " again: " + LinuxError.name((int) -result));
        }
        return true;
    }

    /** The same connection exists, and a process has it. An end that has none is none. */
    void refuseLiving(TcpSocket model) {
        if (model.remote().length > 0) {
            refuseLiving(model, TcpTable.now());
        }
    }

    /** As {@link #refuseLiving(TcpSocket)}, by a table of just now: there may be thousands of sockets to ask for. */
    void refuseLiving(TcpSocket model, TcpTable table) {
        if (model.remote().length == 0) {
            return;
        }
        TcpAddress local = TcpAddress.of(model.local());
        TcpAddress remote = TcpAddress.of(model.remote());
        TcpTable.Entry here = table.find(local, remote);
        TcpTable.Entry there = table.find(remote, local);
        if (here != null && here.inode() != 0 || there != null && there.inode() != 0) {
            long inode = here != null && here.inode() != 0 ? here.inode() : there.inode();
            throw owner.inUse("connect " + named(model)
                    + " again: the connection still exists in " + Holders.ofSockets(List.of(inode))
                    + ", so a part of the job still runs; end it first");
        }
    }

    boolean expired() {
        return System.nanoTime() - begun > TIMEOUT_NS;
    }

    /** Waits a little for the past to pass. */
    void pause(TcpSocket model) {
        if (expired()) {
            throw owner.failed("connect " + named(model)
                    + " again: a connection of the killed job holds the port (TIME_WAIT); try again in a minute");
        }
        if (System.nanoTime() - begun > MOMENT_NS) {
            waits.accept(model);
        }
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw owner.failed("interrupted while TCP connections were restored");
        }
    }

    static String named(TcpSocket socket) {
        return "TCP socket " + TcpAddress.of(socket.local())
                + (socket.remote().length == 0 ? "" : " <-> " + TcpAddress.of(socket.remote()));
    }
}
