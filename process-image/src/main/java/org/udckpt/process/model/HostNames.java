package org.udckpt.process.model;

/**
 * A UTS namespace that the job has made (uts_namespaces(7)).
 *
 * @param user the user namespace that owns it; 0: the one in which the job was started
 */
public record HostNames(long id, long user, String host, String domain) implements KernelObject {}
