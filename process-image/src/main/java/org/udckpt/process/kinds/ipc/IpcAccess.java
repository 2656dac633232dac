package org.udckpt.process.kinds.ipc;

import java.nio.ByteBuffer;

/**
 * Who may use an object, and by what number and key it is found: the first fields of each row, as struct ipc64_perm has
 * them.
 *
 * @param mode permissions, nine bits
 */
record IpcAccess(int key, int uid, int gid, int creatorUid, int creatorGid, int mode) {
    private static final int MODE = 20, PERMISSIONS = 0777;

    /** @param status begins with struct ipc64_perm (asm-generic/ipcbuf.h) */
    static IpcAccess of(ByteBuffer status) {
        return new IpcAccess(status.getInt(0), status.getInt(4), status.getInt(8), status.getInt(12),
                status.getInt(16), status.getInt(MODE) & PERMISSIONS);
    }

    /** As messages name it. */
    String shown(int ipcId) {
        return key == 0 ? "id " + ipcId : "id %d, key 0x%08x".formatted(ipcId, key);
    }
}
