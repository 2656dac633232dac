package org.udckpt.process.kinds.ipc;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.Maker;

/** What the restores of both kinds do: in whose name an object is made, and who does what to it. */
final class IpcRestore {
    private static final int IPC_SET = 1, IPC_STAT = 2, SAME = -1;

    private IpcRestore() {}

    /** The result of {@code get} as the object's creator: its effective user and group own what it makes. */
    static long asCreator(Maker maker, IpcAccess access, LongSupplier get) {
        if (User.id() != 0 || access.creatorUid() == 0 && access.creatorGid() == 0) {
            return get.getAsLong();
        }
        be(maker, Syscall.SETRESGID, access.creatorGid());
        be(maker, Syscall.SETRESUID, access.creatorUid());
        long result = get.getAsLong();
        be(maker, Syscall.SETRESUID, 0);
        be(maker, Syscall.SETRESGID, 0);
        return result;
    }

    private static void be(Maker maker, long call, int effective) {
        maker.call("make an IPC object as user or group " + effective, call, SAME, effective, SAME);
    }

    /**
     * Sets owner and permissions, where root makes what was another's, and limits.
     *
     * @param bytes of the structure that begins with struct ipc64_perm
     * @param limits puts them in
     */
    static void set(Maker maker, String what, IpcAccess access, int bytes, Control control,
            Consumer<ByteBuffer> limits) {
        long room = maker.bytes(new byte[bytes]);
        check(maker, "look at " + what, control.call(IPC_STAT, room));
        ByteBuffer status = ByteBuffer.wrap(maker.read(room, bytes)).order(ByteOrder.LITTLE_ENDIAN);
        if (User.id() == 0) {
            status.putInt(4, access.uid()).putInt(8, access.gid());
        }
        limits.accept(status);
        check(maker, "set owner and limits of " + what, control.call(IPC_SET, maker.bytes(status.array())));
    }

    private static void check(Maker maker, String what, long result) {
        if (result == -LinuxError.EPERM) {
            throw maker.unsupported(what + ": not permitted; restart it as root, or where kernel.msgmnb is as large as "
                    + "it was for the job");
        }
        if (result < 0) {
            throw maker.failed(what + ": " + LinuxError.name((int) -result));
        }
    }

    /** semctl(2) or msgctl(2) of one object. */
    interface Control {
        /** The result, or {@code -errno}. */
        long call(int command, long status);
    }
}
