package org.udckpt.process.model;

/**
 * A file of which memory is mapped privately: a program or a library. No descriptor names it. It must be there
 * unchanged, unless the image has its content: the {@link MemorySource} of this id.
 */
public record MappedFile(long id, String path, long size, long modifiedNs) implements KernelObject {}
