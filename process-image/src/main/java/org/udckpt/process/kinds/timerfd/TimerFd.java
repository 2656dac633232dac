package org.udckpt.process.kinds.timerfd;

import org.udckpt.process.model.KernelObject;

/**
 * {@code settimeFlags}: TFD_TIMER_*. {@code expiresNs} is relative, but since 1970 for an absolute time
 * (TFD_TIMER_ABSTIME) on CLOCK_REALTIME; 0: it is not armed. {@code ticks}: expirations that were not read yet.
 */
public record TimerFd(long id, int flags, int clock, int settimeFlags, long ticks, long expiresNs, long intervalNs)
        implements
            KernelObject {}
