package org.udckpt.process.model;

/**
 * Contents are extents of the {@link MemorySource} of this id. {@code key}, {@code ipcId}: SysV; {@code seals}: memfd.
 */
public record SharedMemory(long id, MemoryKind kind, String path, long size, int mode, int uid, int gid, int key,
        int ipcId, int seals) implements KernelObject {
    @Override
    public boolean openForAWhile() {
        return true;
    }
}
