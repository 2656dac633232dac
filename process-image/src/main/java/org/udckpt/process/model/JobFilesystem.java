package org.udckpt.process.model;

/**
 * A file system that only mount namespaces of the job have.
 *
 * @param fileSystem as mountinfo calls it: tmpfs, proc, ...
 * @param mounted what, which means nothing to such file systems
 * @param settings its options, as mountinfo has them
 */
public record JobFilesystem(long id, String fileSystem, String mounted, String settings) implements KernelObject {}
