package org.udckpt.process.model;

import java.util.List;

/**
 * Everything of a capture but memory contents. Processes are in an order in which each parent comes before its
 * children; memory is read from one {@link MemorySource} per process (by pid) and one per {@link SharedMemory} (by id).
 *
 * @param identities what files are of which the image has no content; none where the image does not say it (it was made
 *     before images did)
 * @param vectors how {@link ThreadState#xstate} is laid out; null where the image does not say it (it was made before
 *     images did)
 */
public record JobImage(List<ProcessState> processes, List<ThreadState> threads, List<Region> regions,
        List<Descriptor> descriptors,
        List<KernelObject> objects, List<PosixTimer> timers, List<Zombie> zombies, Clocks clocks, VectorLayout vectors,
        List<TcpSocket> tcpSockets, List<TerminalObject> terminals, List<InotifyWatch> watches,
        List<PacketSocket> packetSockets, List<GuardPages> guards, List<JobFile> files, List<Privileges> privileges,
        List<Attribute> attributes,
        List<FileIdentity> identities, List<FileNotice> notices, List<JobName> names) {
    /** Without what its programs and libraries are known by, leases and lost events, and its names. */
    public JobImage(List<ProcessState> processes, List<ThreadState> threads, List<Region> regions,
            List<Descriptor> descriptors,
            List<KernelObject> objects, List<PosixTimer> timers, List<Zombie> zombies, Clocks clocks,
            VectorLayout vectors,
            List<TcpSocket> tcpSockets, List<TerminalObject> terminals, List<InotifyWatch> watches,
            List<PacketSocket> packetSockets, List<GuardPages> guards, List<JobFile> files, List<Privileges> privileges,
            List<Attribute> attributes) {
        this(processes, threads, regions, descriptors, objects, timers, zombies, clocks, vectors, tcpSockets, terminals,
                watches, packetSockets, guards, files, privileges, attributes,
                List.of(), List.of(), List.of());
    }

    /**
     * Without terminals, watches, sockets without connections, guard pages, files, and privileges and attributes of
     * their own.
     */
    public JobImage(List<ProcessState> processes, List<ThreadState> threads, List<Region> regions,
            List<Descriptor> descriptors,
            List<KernelObject> objects, List<PosixTimer> timers, List<Zombie> zombies, Clocks clocks,
            VectorLayout vectors, List<TcpSocket> tcpSockets) {
        this(processes, threads, regions, descriptors, objects, timers, zombies, clocks, vectors, tcpSockets, List.of(),
                List.of(), List.of(), List.of(), List.of(), List.of(), List.of());
    }

    /** Without those and TCP sockets. */
    public JobImage(List<ProcessState> processes, List<ThreadState> threads, List<Region> regions,
            List<Descriptor> descriptors,
            List<KernelObject> objects, List<PosixTimer> timers, List<Zombie> zombies, Clocks clocks,
            VectorLayout vectors) {
        this(processes, threads, regions, descriptors, objects, timers, zombies, clocks, vectors, List.of());
    }

    /** The same job, whose programs and files are elsewhere. */
    public JobImage elsewhere(List<ProcessState> otherProcesses, List<Region> otherRegions,
            List<KernelObject> otherObjects, List<InotifyWatch> otherWatches,
            List<JobFile> otherFiles, List<FileIdentity> otherIdentities, List<JobName> otherNames) {
        return new JobImage(otherProcesses, threads, otherRegions, descriptors, otherObjects, timers, zombies, clocks,
                vectors, tcpSockets, terminals, otherWatches, packetSockets, guards,
                otherFiles, privileges, attributes, otherIdentities, notices, otherNames);
    }

    /** The same job with only some of its sockets of the network. */
    public JobImage withSockets(List<TcpSocket> someTcp, List<PacketSocket> somePacket) {
        return new JobImage(processes, threads, regions, descriptors, objects, timers, zombies, clocks, vectors,
                someTcp, terminals, watches, somePacket, guards, files, privileges, attributes, identities, notices,
                names);
    }

    /** The same job, of whose files it is known what they are. */
    public JobImage identified(List<FileIdentity> known) {
        return elsewhere(processes, regions, objects, watches, files, known, names);
    }
}
