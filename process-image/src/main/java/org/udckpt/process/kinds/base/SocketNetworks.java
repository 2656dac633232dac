package org.udckpt.process.kinds.base;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.NetworkNamespaceMember;
import org.udckpt.process.model.PeerCredentials;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.SocketNetwork;

/** Which network namespaces the processes and sockets of an image belong to; 0 is that in which the job was started. */
public final class SocketNetworks {
    private final Map<Long, Long> sockets = new HashMap<>();
    private final Map<Integer, Long> processes = new LinkedHashMap<>();
    private final JobImage image;

    /** Of an image. */
    public SocketNetworks(JobImage image) {
        this.image = image;
        for (KernelObject object : image.objects()) {
            if (object instanceof SocketNetwork one) {
                sockets.put(one.object(), one.networkNamespace());
            } else if (object instanceof NetworkNamespaceMember member) {
                processes.put(member.pid(), member.networkNamespace());
            }
        }
        addEnded();
    }

    /** Processes that have ended, and are made again to make sockets: they come to where the first of those is. */
    private void addEnded() {
        if (sockets.isEmpty()) {
            return;
        }
        Set<Integer> living = image.processes().stream().map(ProcessState::pid).collect(Collectors.toSet());
        image.attributes().stream().filter(one -> one.kind() == AttributeKind.PEER_CREDENTIALS)
                .map(PeerCredentials::of)
                .filter(peer -> sockets.containsKey(peer.object()) && !living.contains(peer.pid()))
                .forEach(peer -> processes.putIfAbsent(peer.pid(), sockets.get(peer.object())));
    }

    /** The namespace of a socket. */
    public long of(long socket) {
        return sockets.getOrDefault(socket, 0L);
    }

    /** The namespace of a process. */
    public long ofProcess(int pid) {
        return processes.getOrDefault(pid, 0L);
    }

    /** By pid, in the order in which they enter it, those in other namespaces than 0. */
    public Map<Integer, Long> processes() {
        return processes;
    }

    /** All namespaces but 0. */
    public Set<Long> all() {
        return Set.copyOf(processes.values());
    }

    /**
     * The process that makes a socket: {@code owner}, if that is in the socket's namespace, or another one that is.
     *
     * @param owner null: none is known
     */
    public Maker maker(long socket, Maker owner, RestoreScope scope) {
        long network = of(socket);
        if (owner == null || ofProcess(owner.pid()) == network) {
            return owner;
        }
        return image.processes().stream().map(ProcessState::pid).filter(pid -> ofProcess(pid) == network).findFirst()
                .<Maker>map(scope::process).orElseThrow(() -> scope.inconsistent(
                        "the image is inconsistent: no process is in the network namespace of socket " + socket));
    }

    /** The image with the sockets of the network of one namespace only, as {@link MadeHere} takes it. */
    public JobImage only(long network) {
        return sockets.isEmpty() ? image
                : image.withSockets(image.tcpSockets().stream().filter(one -> of(one.id()) == network).toList(),
                        image.packetSockets().stream().filter(one -> of(one.id()) == network).toList());
    }
}
