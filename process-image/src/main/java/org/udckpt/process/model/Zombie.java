package org.udckpt.process.model;

/** A child that has ended and was not yet waited for. {@code waitStatus} as wait4(2) will report it. */
public record Zombie(int pid, int parentPid, int processGroup, int session, String name, int waitStatus) {}
