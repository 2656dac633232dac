package org.udckpt.cluster;

import org.udckpt.coordination.protocol.NodeProtocol;

/**
 * One node of the job, as what stands above it has it.
 *
 * @param part the protocol's parts; to be used in {@code thread} only, but for what is called before the first message
 * @param thread the node's
 * @param tables what it sends tables by
 */
public record NodeHandle(NodeProtocol part, NodeThread thread, TableSender tables) {}
