package org.udckpt.process.kinds.pipe;

import static org.udckpt.linux.LinuxConstants.F_SETFL;
import static org.udckpt.linux.LinuxConstants.F_SETPIPE_SZ;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.names.NewName;
import org.udckpt.process.names.PlacedNames;

/** Makes pipes and FIFOs with what was in them. */
final class PipeRestore implements KindRestore<PipeEnd> {
    private static final int CHUNK = 32768, ACCESS = 3;

    private final RestoreScope scope;

    PipeRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void makeTogether() {
        Map<Long, List<PipeEnd>> ends =
                scope.objects(PipeEnd.class).stream().collect(Collectors.groupingBy(PipeEnd::pipe));
        for (Pipe pipe : scope.objects(Pipe.class)) {
            make(pipe, ends.getOrDefault(pipe.id(), List.of()));
        }
    }

    private void make(Pipe pipe, List<PipeEnd> ends) {
        Maker maker = ends.stream().map(end -> scope.maker(end.id())).filter(Objects::nonNull).findFirst()
                .orElseThrow(() -> scope.inconsistent("pipe " + pipe.id() + " of the image has no end"));
        NewName name = scope.name(pipe.id());
        long[] pair = pipe.path() == null ? anonymous(maker) : name == null ? own(maker, pipe) : named(maker, name);
        if (pipe.capacity() > 0) {
            maker.call("set a pipe's capacity to " + pipe.capacity(), Syscall.FCNTL, pair[1], F_SETPIPE_SZ,
                    pipe.capacity());
        }
        for (int at = 0; at < pipe.contents().length;) {
            byte[] part = Arrays.copyOfRange(pipe.contents(), at, Math.min(at + CHUNK, pipe.contents().length));
            at += (int) maker.call("fill a pipe", Syscall.WRITE, pair[1], maker.bytes(part), part.length);
        }
        PipeEnd[] made = {
                pipe.path() == null ? made(ends, false) : null, pipe.path() == null ? made(ends, true) : null};
        for (PipeEnd end : ends) {
            if (end != made[0] && end != made[1]) {
                scope.made().add(maker, end.id(), end(maker, end, pair));
            }
        }
        for (int side = 0; side < 2; side++) {
            if (made[side] != null) {
                maker.call("set a pipe's flags", Syscall.FCNTL, pair[side], F_SETFL, made[side].flags() & ~ACCESS);
                scope.made().add(maker, made[side].id(), pair[side]);
            } else if (side == 0 || pair[1] != pair[0]) {
                // A process that holds no end must not keep the pipe open: the other side has to see end of file.
                maker.call("close", Syscall.CLOSE, pair[side]);
            }
        }
    }

    /**
     * The end that pipe(2) has made: each open(2) sets O_LARGEFILE, which nothing takes away. Null: it is not among
     * them.
     */
    private static PipeEnd made(List<PipeEnd> ends, boolean write) {
        return ends.stream()
                .filter(end -> end.writeEnd() == write && (end.flags() & Syscall.O_LARGEFILE) == 0
                        && (end.flags() & ACCESS) == (write ? Syscall.O_WRONLY : Syscall.O_RDONLY))
                .findFirst()
                .orElse(null);
    }

    private long[] anonymous(Maker maker) {
        long pair = maker.structure().i64(0).put();
        maker.call("pipe2", Syscall.PIPE2, pair, Syscall.O_CLOEXEC);
        return new long[]{maker.readInt(pair), maker.readInt(pair + 4)};
    }

    /**
     * Open both ways, so that no open of it waits for the other side (fifo(7)). It is always a new one: its bytes come
     * with it.
     */
    private long[] named(Maker maker, NewName wanted) {
        long both = scope.placed().make(wanted, (path, made) -> {
            long opened = scope.openMade(maker, path, Syscall.O_RDWR, made);
            maker.call("chmod " + wanted.path(), Syscall.FCHMOD, opened, PlacedNames.mode(wanted, made));
            return opened;
        });
        return new long[]{both, both};
    }

    /** It came with a file system of the job's own. */
    private long[] own(Maker maker, Pipe pipe) {
        long both = scope.isOwn(maker, pipe.path())
                ? scope.tryOpen(maker, pipe.path(), Syscall.O_RDWR | Syscall.O_NONBLOCK | Syscall.O_CLOEXEC)
                : -LinuxError.EXDEV;
        if (both < 0) {
            throw maker.changed("cannot open FIFO " + pipe.path() + " again: " + LinuxError.name((int) -both));
        }
        return new long[]{both, both};
    }

    /** Each end is an open file description of its own, with its own flags. */
    private static long end(Maker maker, PipeEnd end, long[] pair) {
        int access = end.flags() & ACCESS;
        // O_CLOEXEC would stay among the flags that F_GETFL shows
        long fd = LinuxError.check(maker.reopen(pair[end.writeEnd() ? 1 : 0], access | Syscall.O_NONBLOCK),
                maker.name() + ": open a pipe's end");
        maker.call("set a pipe's flags", Syscall.FCNTL, fd, F_SETFL, end.flags() & ~ACCESS);
        return fd;
    }
}
