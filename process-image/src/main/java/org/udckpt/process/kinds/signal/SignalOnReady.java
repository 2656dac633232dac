package org.udckpt.process.kinds.signal;

import org.udckpt.process.model.KernelObject;

/**
 * Open file {@code object} sends signals when it is ready (O_ASYNC, fcntl(2)).
 *
 * @param type F_OWNER_TID 0, F_OWNER_PID 1, F_OWNER_PGRP 2
 * @param receiver the thread, process or group that gets them; 0: nobody
 * @param signal F_SETSIG, 0: SIGIO
 */
public record SignalOnReady(long id, long object, int type, int receiver, int signal) implements KernelObject {}
