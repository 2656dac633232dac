package org.udckpt.process.model;

/**
 * In which {@link IpcNamespace} an object is: semaphores, a message queue, a file system of message queues. Objects of
 * which no row tells are where the job was started.
 */
public record IpcPlace(long id, long object, long ipcNamespace) implements KernelObject {}
