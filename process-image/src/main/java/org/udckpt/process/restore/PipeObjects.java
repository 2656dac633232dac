package org.udckpt.process.restore;

import java.util.Arrays;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.KernelObject;

/** Makes pipes and FIFOs with what was in them. */
final class PipeObjects {
    private static final int F_SETFL = 4, F_SETPIPE_SZ = 1031, MKNOD = 133, S_IFIFO = 0010000, CHUNK = 32768, ACCESS = 3;

    private PipeObjects() {}

    static void make(KernelObject.Pipe pipe, List<KernelObject.PipeEnd> ends, Descriptors descriptors, Handles handles) {
        Puppet maker = ends.stream().map(end -> descriptors.maker(end.id())).filter(p -> p != null).findFirst()
                .orElseThrow(() -> new RestoreException(RestoreException.Reason.FAILED, "pipe " + pipe.id() + " of the image has no end"));
        long[] pair = pipe.path() == null ? anonymous(maker) : named(maker, pipe.path());
        if (pipe.capacity() > 0) {
            maker.call("set a pipe's capacity to " + pipe.capacity(), Syscall.FCNTL, pair[1], F_SETPIPE_SZ, pipe.capacity());
        }
        for (int at = 0; at < pipe.contents().length; ) {
            byte[] part = Arrays.copyOfRange(pipe.contents(), at, Math.min(at + CHUNK, pipe.contents().length));
            at += (int) maker.call("fill a pipe", Syscall.WRITE, pair[1], maker.bytes(part), part.length);
        }
        for (KernelObject.PipeEnd end : ends) {
            handles.add(maker, end.id(), end(maker, end, pair));
        }
        // Who holds no end must not keep the pipe open: the other side has to see its end of file.
        maker.call("close", Syscall.CLOSE, pair[0]);
        if (pair[1] != pair[0]) {
            maker.call("close", Syscall.CLOSE, pair[1]);
        }
    }

    private static long[] anonymous(Puppet maker) {
        long pair = maker.structure().i64(0).put();
        maker.call("pipe2", Syscall.PIPE2, pair, Syscall.O_CLOEXEC);
        return new long[] {maker.readInt(pair), maker.readInt(pair + 4)};
    }

    /** Open both ways, so that no open of it waits for the other side (fifo(7)). One that is gone comes back, its bytes do anyway. */
    private static long[] named(Puppet maker, String path) {
        long opened = maker.tryCall(Syscall.OPEN, maker.string(path), Syscall.O_RDWR | Syscall.O_CLOEXEC, 0);
        if (opened == -LinuxError.ENOENT) {
            Directories.above(maker, path);
            maker.call("make fifo " + path, MKNOD, maker.string(path), S_IFIFO | 0600, 0);
            opened = maker.call("open " + path, Syscall.OPEN, maker.string(path), Syscall.O_RDWR | Syscall.O_CLOEXEC, 0);
        }
        long both = LinuxError.check(opened, maker.name() + ": open " + path);
        return new long[] {both, both};
    }

    /** Each end is an open file description of its own, with its own flags. */
    private static long end(Puppet maker, KernelObject.PipeEnd end, long[] pair) {
        String path = "/proc/self/fd/" + pair[end.writeEnd() ? 1 : 0];
        int access = end.flags() & ACCESS;
        long fd = maker.call("open a pipe's end", Syscall.OPEN, maker.string(path), access | Syscall.O_NONBLOCK | Syscall.O_CLOEXEC, 0);
        maker.call("set a pipe's flags", Syscall.FCNTL, fd, F_SETFL, end.flags() & ~ACCESS);
        return fd;
    }
}
