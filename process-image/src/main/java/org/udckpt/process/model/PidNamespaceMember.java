package org.udckpt.process.model;

/**
 * A number that is known in a pid namespace of the job's own: of a process, of a thread, of a child that has ended, or
 * of a session or process group.
 *
 * @param pid as the job numbers it
 * @param inner as the namespace does; 0: none, and only the children of this process are born in the namespace
 */
public record PidNamespaceMember(long id, int pid, long pidNamespace, int inner) implements KernelObject {}
