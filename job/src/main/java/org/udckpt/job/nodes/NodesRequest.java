package org.udckpt.job.nodes;

/**
 * What the command line says of a job on several hosts.
 *
 * @param starter how agents come to them
 * @param fanOut  of the tree
 */
public record NodesRequest(Starter starter, int fanOut) {}
