package org.udckpt.process.model;

/** Nanoseconds as the job saw them at the stop (its time namespace included). */
public record Clocks(long monotonicNs, long boottimeNs, long realtimeNs) {}
