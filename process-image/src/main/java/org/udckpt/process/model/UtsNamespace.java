package org.udckpt.process.model;

/**
 * A UTS namespace that the job has made (uts_namespaces(7)).
 *
 * @param userOwner the user namespace that owns it; 0: the one in which the job was started
 */
public record UtsNamespace(long id, long userOwner, String hostName, String domainName) implements KernelObject {}
