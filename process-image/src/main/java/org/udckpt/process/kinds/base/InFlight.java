package org.udckpt.process.kinds.base;

/**
 * An object of which a descriptor is in flight: in the queue of a unix socket, and perhaps in no process.
 *
 * @param pid a process from which the socket can be reached: a restart makes the object there
 */
public record InFlight(long object, int pid) {}
