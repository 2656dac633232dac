package org.udckpt.process.model;

/**
 * A file of which memory is mapped privately: a program or a library. No descriptor names it; it must be there
 * unchanged.
 */
public record MappedFile(long id, String path, long size, long modifiedNs) implements KernelObject {}
