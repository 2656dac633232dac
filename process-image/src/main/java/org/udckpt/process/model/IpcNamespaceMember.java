package org.udckpt.process.model;

/** Which process is in which {@link IpcNamespace}; those of which no row tells are where the job was started. */
public record IpcNamespaceMember(long id, int pid, long ipcNamespace) implements KernelObject {}
