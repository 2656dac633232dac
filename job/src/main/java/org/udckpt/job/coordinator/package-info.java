/**
 * A checkpoint of all nodes as a protocol over the tree (docs/internals/coordination.md): {@link
 * org.udckpt.job.coordinator.Coordinator} decides at the root, {@link org.udckpt.job.coordinator.Participant} does at
 * each node, {@link org.udckpt.job.coordinator.NodePart} joins both with the tree. Pure state machines: what takes
 * time is asked of {@link org.udckpt.job.coordinator.Ranks} and {@link org.udckpt.job.coordinator.Owner}. Knows the
 * tree and the exchange of tables, not agents, ranks or images.
 */
package org.udckpt.job.coordinator;
