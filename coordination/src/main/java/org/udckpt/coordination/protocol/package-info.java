/**
 * A checkpoint of all nodes as a protocol over the tree (docs/internals/coordination.md): {@link Coordinator} decides
 * at the root, {@link Participant} does at each node, {@link NodeProtocol} joins both with the tree. Pure state
 * machines: what takes time is asked of {@link Ranks} and {@link CoordinatorListener}. Knows the tree and the exchange
 * of tables, not agents, ranks or images.
 */
package org.udckpt.coordination.protocol;
