package org.udckpt.process.model;

/**
 * A file or directory of a {@link JobFilesystem}.
 *
 * @param path in it; "/" is its root directory. What a directory has comes behind it
 * @param fileMode with the type
 * @param rawDevice of a device node
 * @param target of a symbolic link; of a regular file with several names: the first of them; else ""
 * @param content {@link SharedMemory}; 0: it has none
 * @param extended attributes: names and values, each with its length in four bytes before it
 */
public record FilesystemEntry(long id, long filesystem, String path, int fileMode, int uid, int gid, long rawDevice,
        long accessedNs, long modifiedNs, String target, long content, byte[] extended) implements KernelObject {}
