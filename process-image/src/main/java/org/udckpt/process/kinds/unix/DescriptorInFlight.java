package org.udckpt.process.kinds.unix;

import org.udckpt.process.model.KernelObject;

/**
 * A descriptor that waits in unix socket {@code object} (SCM_RIGHTS of unix(7)); those of one message come in the order
 * of their ids.
 *
 * @param message which of the queue's, from 0 ({@link UnixSocket#messageLengths})
 * @param sent id of what it names
 * @param pid a process from which the socket can be reached: a restart makes there what no process has
 */
public record DescriptorInFlight(long id, long object, int message, long sent, int pid) implements KernelObject {
    @Override
    public int spare() {
        return 2; // what it names, and an end by which it is sent
    }
}
