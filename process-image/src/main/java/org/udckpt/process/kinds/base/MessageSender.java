package org.udckpt.process.kinds.base;

/**
 * The credentials with which a message waits in a unix socket (SCM_CREDENTIALS of unix(7)).
 *
 * @param object the socket
 * @param message which of its queue's, from 0
 * @param offset bytes in the queue before it
 * @param pid as this process numbers it
 */
public record MessageSender(long object, int message, int offset, int pid, int uid, int gid) {}
