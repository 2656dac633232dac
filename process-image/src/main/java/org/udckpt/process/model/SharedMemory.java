package org.udckpt.process.model;

/**
 * Contents are extents of the {@link MemorySource} of this id. {@code key}, {@code ipcId}: SysV; {@code seals}: memfd.
 */
public record SharedMemory(long id, MemoryKind kind, String path, long size, int mode, int uid, int gid, int key,
        int ipcId, int seals) implements KernelObject {
    /** Whether it is a file without a name. */
    public boolean isNameless() {
        return kind == MemoryKind.DELETED_FILE || kind == MemoryKind.MEMFD;
    }

    @Override
    public boolean openForAWhile() {
        return true;
    }
}
