package org.udckpt.process.model;

/**
 * A regular file. {@code backing} is the {@link SharedMemory} with its contents, or 0: the file on disk is reopened by
 * path and, when it was open for writing, cut back to {@code size}.
 */
public record OpenFile(long id, String path, int flags, long position, long size, int mode, long device, long inode,
        long modifiedNs, long backing) implements KernelObject {
    /** The same under another path. */
    public OpenFile at(String other) {
        return new OpenFile(id, other, flags, position, size, mode, device, inode, modifiedNs, backing);
    }
}
