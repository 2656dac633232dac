package org.udckpt.process.kinds.namespace;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWNET;

import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.base.SocketNetworks;
import org.udckpt.process.model.NetworkNamespace;

/** Makes network namespaces, and lets the job's processes enter them before any of their sockets is made. */
final class NetworkRestore {
    private final RestoreScope scope;
    private final SocketNetworks networks;

    NetworkRestore(RestoreScope scope) {
        this.scope = scope;
        this.networks = new SocketNetworks(scope.image());
    }

    /** Those that a user namespace owns; 0: that in which the job was started. */
    void make(long user) {
        for (NetworkNamespace network : scope.objects(NetworkNamespace.class)) {
            if (network.userOwner() == user) {
                make(network);
            }
        }
    }

    private void make(NetworkNamespace network) {
        List<Maker> members = networks.processes().entrySet().stream()
                .filter(one -> one.getValue() == network.id()).map(Map.Entry::getKey)
                .<Maker>map(pid -> scope.makers().get(pid)).toList();
        if (members.isEmpty()) {
            return;
        }
        Maker first = members.getFirst();
        first.call("unshare its network", Syscall.UNSHARE, CLONE_NEWNET);
        try (NetworkCalls in = NetworkCalls.of(first.hostPid())) {
            NetworkSetup.apply(in, network);
        } catch (LinuxError e) {
            throw first.unsupported("its network namespace cannot be set up as it was: " + e.getMessage());
        }
        int namespace = Files.open("/proc/" + first.hostPid() + "/ns/net", Syscall.O_RDONLY);
        try {
            for (Maker maker : members.subList(1, members.size())) {
                long given = scope.give(maker, namespace);
                maker.call("enter its network namespace", Syscall.SETNS, given, CLONE_NEWNET);
                maker.call("close", Syscall.CLOSE, given);
            }
        } finally {
            Files.close(namespace);
        }
    }
}
