package org.udckpt.process.kinds.socket;

/**
 * What a queued message of a unix socket has with it (SCM_RIGHTS and SCM_CREDENTIALS of unix(7)).
 *
 * @param message which of the queue's, from 0
 * @param offset bytes before it
 * @param descriptors in this process, which a look at the message has opened; close them
 * @param sender null: the message has no credentials
 * @param name of a datagram's sender, as {@link UnixAddress#name}; empty: it has none
 */
public record SentAlong(int message, int offset, int[] descriptors, Sender sender, byte[] name) {
    /**
     * Who sent it, or said so.
     *
     * @param pid as this process numbers it
     */
    public record Sender(int pid, int uid, int gid) {}
}
