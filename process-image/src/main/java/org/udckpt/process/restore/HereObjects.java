package org.udckpt.process.restore;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.kinds.base.SocketNetworks;
import org.udckpt.process.model.JobImage;

/** What of a job is made in this process, and handed over: sockets of the network, each in its network namespace. */
final class HereObjects implements AutoCloseable {
    private final List<MadeHere> all = new ArrayList<>();
    private final SocketNetworks networks;
    private final Owners owners;

    HereObjects(JobImage image, Owners owners) {
        this.networks = new SocketNetworks(image);
        this.owners = owners;
    }

    /**
     * Whether they could be had: they are bound as for a restart, and let go. @throws RestoreException naming the
     * socket, and who has its port
     */
    static void check(JobImage image, Owners owners) {
        for (MadeHere one : ObjectKinds.madeHere(new SocketNetworks(image).only(0), owners)) {
            try (one) {
                one.check();
            }
        }
    }

    /** Those of the network namespace in which the job was started: before all else, since it may have to wait. */
    void make(Consumer<String> warn) {
        make(0, warn);
    }

    /** Those of network namespaces of the job's own, when its processes are in these. */
    void makeInside(Map<Integer, Tracee> tracees, Consumer<String> warn) {
        for (long network : networks.all()) {
            Tracee member = tracees.values().stream().filter(one -> networks.ofProcess(one.pid()) == network)
                    .findFirst().orElseThrow();
            try (NetworkCalls in = NetworkCalls.of(member.hostPid())) {
                NetworkCalls.in(in, () -> make(network, warn));
            }
        }
    }

    private void make(long network, Consumer<String> warn) {
        List<MadeHere> made = ObjectKinds.madeHere(networks.only(network), owners);
        all.addAll(made);
        made.forEach(one -> one.make(warn));
    }

    List<MadeHere> all() {
        return all;
    }

    @Override
    public void close() {
        all.forEach(MadeHere::close);
    }
}
