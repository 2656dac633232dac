package org.udckpt.process.kinds.unix;

import org.udckpt.process.model.KernelObject;

/**
 * Credentials with which a message waits in unix socket {@code object} (SCM_CREDENTIALS of unix(7)), or
 * in {@link WaitingMessages}.
 *
 * @param message which of the queue's, from 0 ({@link UnixSocket#messageLengths})
 * @param pid in the job's namespace, whether that process is still there or not
 */
public record CredentialsInFlight(long id, long object, int message, int pid, int uid, int gid)
        implements
            KernelObject {}
