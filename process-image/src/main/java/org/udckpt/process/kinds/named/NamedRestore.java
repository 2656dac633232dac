package org.udckpt.process.kinds.named;

import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.OpenFlags;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.KernelObject;

/** Opens by its name again what is there, at its position. */
final class NamedRestore<T extends KernelObject> implements KindRestore<T> {
    private final RestoreScope scope;
    private final Function<T, String> path;
    private final ToIntFunction<T> flags;
    private final ToLongFunction<T> position;

    NamedRestore(RestoreScope scope, Function<T, String> path, ToIntFunction<T> flags, ToLongFunction<T> position) {
        this.scope = scope;
        this.path = path;
        this.flags = flags;
        this.position = position;
    }

    @Override
    public long make(Maker maker, T file) {
        String name = path.apply(file);
        long fd = scope.tryOpenSeen(maker, name, OpenFlags.kept(flags.applyAsInt(file)), file.id());
        if (fd < 0) {
            throw maker.changed("cannot open " + name + " again: " + LinuxError.name((int) -fd));
        }
        if (position.applyAsLong(file) != 0) {
            maker.call("seek in " + name, Syscall.LSEEK, fd, position.applyAsLong(file), 0);
        }
        return fd;
    }
}
