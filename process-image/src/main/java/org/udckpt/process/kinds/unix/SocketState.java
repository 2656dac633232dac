package org.udckpt.process.kinds.unix;

/** What a unix socket is to others. */
public enum SocketState {
    CONNECTED,
    PEER_CLOSED,
    LISTENING,
    UNCONNECTED,
    /** Connected to a listener that has not accepted it yet. */
    WAITING
}
