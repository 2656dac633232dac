/**
 * The way between the nodes of a job (docs/reference/transport.md): Arrow Flight over TLS, for holders of the job's
 * credential alone.
 *
 * <p>An {@link TransportEndpoint} is a node's end: its server, and an {@code OutboundChannel} for each node that it
 * sends to, which hands over one shipment after the other in {@code Delivery} calls. What arrives goes through an
 * {@code InboundChannel} for each sender, which keeps order and leaves out what came twice, to an {@link Inbox}. The
 * package knows nothing of what messages say.
 */
package org.udckpt.transport;
