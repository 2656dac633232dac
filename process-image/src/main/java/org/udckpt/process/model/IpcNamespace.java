package org.udckpt.process.model;

/**
 * An IPC namespace that the job has made (ipc_namespaces(7)).
 *
 * @param userOwner the user namespace that owns it; 0: the one in which the job was started
 */
public record IpcNamespace(long id, long userOwner) implements KernelObject {}
