package org.udckpt.process.kinds.unix;

import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.NamespaceMember;

/**
 * The file of a bound socket on a file system that only a mount namespace of the job has.
 *
 * @param object the {@link UnixSocket}
 * @param tree the namespace ({@link NamespaceMember})
 */
public record OwnSocketFile(long id, long object, int tree, String path, int mode, int uid, int gid)
        implements
            KernelObject {
    /** Whether it is the same file: a listener's sockets have its. */
    static boolean same(OwnSocketFile one, OwnSocketFile other) {
        return one == null || other == null ? one == other : one.tree == other.tree && one.path.equals(other.path);
    }
}
