package org.udckpt.process.kinds.unix;

import org.udckpt.process.model.KernelObject;

/**
 * What a connection that was not accepted has received. {@link CredentialsInFlight} of its messages name this.
 *
 * @param object the {@link WaitingConnection}
 * @param queued all messages joined, of which {@code messageLengths} has the lengths
 */
public record WaitingMessages(long id, long object, byte[] queued, int[] messageLengths) implements KernelObject {}
