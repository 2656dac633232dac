package org.udckpt.agent;

/**
 * A process of a running job.
 *
 * @param hostPid as the agent numbers it
 * @param pid as the job does
 * @param parent the agent's number of its parent; 0: the shepherd
 * @param root the agent's number of the process that {@code run} started, below which it is; the first one of a daemon
 * @param name of its program (comm)
 */
public record JobProcess(int hostPid, int pid, int parent, int root, String name) {}
