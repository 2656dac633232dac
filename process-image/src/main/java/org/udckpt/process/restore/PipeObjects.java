package org.udckpt.process.restore;

import java.util.Arrays;
import java.util.List;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.names.NewName;
import org.udckpt.process.names.NewNames;
import org.udckpt.process.names.PlacedNames;

/** Makes pipes and FIFOs with what was in them. */
final class PipeObjects {
    private static final int F_SETFL = 4, F_SETPIPE_SZ = 1031, CHUNK = 32768, ACCESS = 3;

    private final Descriptors descriptors;
    private final Handles handles;
    private final NewNames names;
    private final PlacedNames placed;

    PipeObjects(Descriptors descriptors, Handles handles, NewNames names, PlacedNames placed) {
        this.descriptors = descriptors;
        this.handles = handles;
        this.names = names;
        this.placed = placed;
    }

    void make(KernelObject.Pipe pipe, List<KernelObject.PipeEnd> ends) {
        Puppet maker = ends.stream().map(end -> descriptors.maker(end.id())).filter(p -> p != null).findFirst()
                .orElseThrow(() -> new RestoreException(RestoreException.Reason.FAILED, "pipe " + pipe.id() + " of the image has no end"));
        long[] pair = pipe.path() == null ? anonymous(maker) : named(maker, names.of(pipe.id()));
        if (pipe.capacity() > 0) {
            maker.call("set a pipe's capacity to " + pipe.capacity(), Syscall.FCNTL, pair[1], F_SETPIPE_SZ, pipe.capacity());
        }
        for (int at = 0; at < pipe.contents().length; ) {
            byte[] part = Arrays.copyOfRange(pipe.contents(), at, Math.min(at + CHUNK, pipe.contents().length));
            at += (int) maker.call("fill a pipe", Syscall.WRITE, pair[1], maker.bytes(part), part.length);
        }
        KernelObject.PipeEnd[] made = {pipe.path() == null ? made(ends, false) : null, pipe.path() == null ? made(ends, true) : null};
        for (KernelObject.PipeEnd end : ends) {
            if (end != made[0] && end != made[1]) {
                handles.add(maker, end.id(), end(maker, end, pair));
            }
        }
        for (int side = 0; side < 2; side++) {
            if (made[side] != null) {
                maker.call("set a pipe's flags", Syscall.FCNTL, pair[side], F_SETFL, made[side].flags() & ~ACCESS);
                handles.add(maker, made[side].id(), pair[side]);
            } else if (side == 0 || pair[1] != pair[0]) {
                // Who holds no end must not keep the pipe open: the other side has to see its end of file.
                maker.call("close", Syscall.CLOSE, pair[side]);
            }
        }
    }

    /** The end that pipe(2) has made: each open(2) sets O_LARGEFILE, which nothing takes away. Null: it is not among them. */
    private static KernelObject.PipeEnd made(List<KernelObject.PipeEnd> ends, boolean write) {
        return ends.stream().filter(end -> end.writeEnd() == write && (end.flags() & Syscall.O_LARGEFILE) == 0 && (end.flags() & ACCESS) == (write ? Syscall.O_WRONLY : Syscall.O_RDONLY))
                .findFirst().orElse(null);
    }

    private long[] anonymous(Puppet maker) {
        long pair = maker.structure().i64(0).put();
        maker.call("pipe2", Syscall.PIPE2, pair, Syscall.O_CLOEXEC);
        return new long[] {maker.readInt(pair), maker.readInt(pair + 4)};
    }

    /** Open both ways, so that no open of it waits for the other side (fifo(7)). It is always a new one: its bytes come with it. */
    private long[] named(Puppet maker, NewName wanted) {
        long both = placed.make(wanted, (path, made) -> {
            long opened = NamedFiles.openMade(maker, path, Syscall.O_RDWR, made);
            maker.call("chmod " + wanted.path(), Syscall.FCHMOD, opened, PlacedNames.mode(wanted, made));
            return opened;
        });
        return new long[] {both, both};
    }

    /** Each end is an open file description of its own, with its own flags. */
    private static long end(Puppet maker, KernelObject.PipeEnd end, long[] pair) {
        String path = "/proc/self/fd/" + pair[end.writeEnd() ? 1 : 0];
        int access = end.flags() & ACCESS;
        long fd = maker.call("open a pipe's end", Syscall.OPEN, maker.string(path), access | Syscall.O_NONBLOCK, 0); // O_CLOEXEC would stay among the flags that F_GETFL shows
        maker.call("set a pipe's flags", Syscall.FCNTL, fd, F_SETFL, end.flags() & ~ACCESS);
        return fd;
    }
}
