package org.udckpt.process.model;

/** A proc file system of the job's own that shows a pid namespace of the job's own (proc(5)). */
public record ProcFilesystem(long id, long filesystem, long pidNamespace) implements KernelObject {}
