package org.udckpt.process.model;

/**
 * A TCP socket (tcp(7)). Ids are shared with {@link KernelObject}s; a {@link Descriptor} names it by its id.
 *
 * @param flags of open(2) (F_GETFL)
 * @param domain AF_INET 2, AF_INET6 10
 * @param peer CONNECTED: id of the other end. WAITING: id of the listener in whose accept queue the other end is. Else
 *     0
 * @param local its own address, as getsockname(2) gave it (struct sockaddr_in, sockaddr_in6)
 * @param remote the other end's, as getpeername(2) gave it, CLOSED: as SO_PEERNAME did; empty in the states that have
 *     none
 * @param queued bytes that arrived and were not read
 * @param shutdown directions that the process itself has shut: 1 receiving, 2 sending
 * @param backlog of listen(2)
 * @param options that are not what a new socket has, three numbers each: level, name, value (setsockopt(2));
 *     {@link BindOptions}
 * @param receiveTimeoutUs SO_RCVTIMEO in microseconds, 0: none; {@code sendTimeoutUs}: SO_SNDTIMEO
 * @param lingerSeconds SO_LINGER, -1: off
 * @param sendBuffer SO_SNDBUF as getsockopt(2) gives it, when the process has chosen it; 0: the kernel's choice.
 *     {@code receiveBuffer}: SO_RCVBUF
 * @param congestion TCP_CONGESTION when it is not what a new socket has, else empty
 * @param device SO_BINDTODEVICE, or empty
 */
public record TcpSocket(long id, int flags, int domain, TcpState state, long peer, byte[] local, byte[] remote,
        byte[] queued, int shutdown,
        int backlog, int[] options, long receiveTimeoutUs, long sendTimeoutUs, int lingerSeconds, int sendBuffer,
        int receiveBuffer,
        String congestion, String device) {
    /** IPPROTO_TCP, or what its options have of it: IPPROTO_MPTCP, where nobody is connected to it. */
    public int protocol() {
        return SocketLevel.protocol(options, TcpOptions.SOL_TCP);
    }

    /** State of the process's end, and of the other end. */
    public enum TcpState {
        /** New, or bound only. */
        UNCONNECTED,
        LISTENING,
        /** Both ends have descriptors. */
        CONNECTED,
        /** The other end was closed; its last bytes and the end of the stream have arrived. */
        PEER_CLOSED,
        /** The other end waits to be accepted. */
        WAITING,
        /** Both directions have ended. */
        CLOSED
    }
}
