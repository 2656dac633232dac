package org.udckpt.process.model;

/**
 * A socket that belongs to a network namespace that the job has made: it was made in there, whoever has it now.
 *
 * @param object the socket
 */
public record SocketNetwork(long id, long object, long networkNamespace) implements KernelObject {}
