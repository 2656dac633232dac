package org.udckpt.process.kinds.named;

import static org.udckpt.linux.LinuxConstants.AT_FDCWD;

import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.OpenFlags;
import org.udckpt.process.kinds.base.RestoreScope;

/** Makes a node for a moment, in /dev, where nobody but root can have put anything under its name. */
final class RemovedDeviceRestore implements KindRestore<RemovedDevice> {
    private final RestoreScope scope;

    RemovedDeviceRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public long make(Maker maker, RemovedDevice device) {
        if (User.id() != 0) {
            throw maker.unsupported("device node " + device.formerPath() + " is no more, and only root makes another; "
                    + "restart it as root");
        }
        int node = node(maker, device);
        try {
            Files.attributes(node, device.formerPath(), device.uid(), device.gid(), device.mode(), 0);
            long given = scope.give(maker, node);
            long fd = maker.call("open device " + device.formerPath() + " again", Syscall.OPEN,
                    maker.string("/proc/self/fd/" + given), OpenFlags.kept(device.flags()), 0);
            maker.call("close", Syscall.CLOSE, given);
            return fd;
        } finally {
            Files.close(node);
        }
    }

    /** Its name is gone already, and the file is there as long as it is open. */
    private static int node(Maker maker, RemovedDevice device) {
        String path = "/dev/.udckpt-node-" + ProcessHandle.current().pid();
        Syscall.call(Syscall.UNLINKAT, AT_FDCWD, Scratch.string(path), 0); // of one that was killed here
        long made =
                Syscall.call(Syscall.MKNODAT, AT_FDCWD, Scratch.string(path), Files.Stat.CHARACTER, device.rawDevice());
        if (made < 0) {
            throw maker.unsupported("device node " + device.formerPath() + " cannot be made again at " + path + ": "
                    + LinuxError.name((int) -made));
        }
        try {
            return Files.open(path, Syscall.O_PATH | Syscall.O_NOFOLLOW);
        } finally {
            LinuxError.check(Syscall.call(Syscall.UNLINKAT, AT_FDCWD, Scratch.string(path), 0), "unlink ", path);
        }
    }
}
