package org.udckpt.process.kinds.unix;

import org.udckpt.process.model.KernelObject;

/**
 * @param type SOCK_STREAM 1, SOCK_DGRAM 2, SOCK_SEQPACKET 5
 * @param peer id of the other end; 0: none (peer closed, listening, or never connected: see {@code state}). Datagram
 *     sockets may each have another peer: only two that are connected to each other are a pair
 * @param queued unread bytes, all messages joined; {@code messageLengths} cuts them for DGRAM and SEQPACKET,
 *     and for STREAM where descriptors or credentials are with some of them
 * @param sendBuffer SO_SNDBUF, when a process has chosen it; else 0. An older image has the size that it had by itself,
 *     too; {@code receiveBuffer}: SO_RCVBUF
 * @param shutdown directions that are shut: 1 receiving, 2 sending
 * @param receiveTimeoutUs SO_RCVTIMEO in microseconds, 0: none; {@code sendTimeoutUs}: SO_SNDTIMEO
 * @param name bound address as in sockaddr_un.sun_path (a first NUL byte: abstract), or empty
 */
public record UnixSocket(long id, int flags, int type, SocketState state, long peer, byte[] queued,
        int[] messageLengths, byte[] name, int backlog, int sendBuffer, int receiveBuffer, int shutdown,
        long receiveTimeoutUs, long sendTimeoutUs, boolean passCredentials) implements KernelObject {}
