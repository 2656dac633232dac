package org.udckpt.process.kinds.named;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.OpenFlags;
import org.udckpt.process.kinds.base.RestoreScope;

/** Opens the file of a child that will have ended when the job runs. */
final class EndedProcessFileRestore implements KindRestore<EndedProcessFile> {
    private final RestoreScope scope;

    EndedProcessFileRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public long make(Maker maker, EndedProcessFile file) {
        String name = file.of(scope.endingChild(file.endingChild()));
        long fd = scope.tryOpenSeen(maker, name, OpenFlags.kept(file.flags()));
        if (fd < 0) {
            throw maker.changed("cannot open " + name + ", in place of " + file.path() + ", again: "
                    + LinuxError.name((int) -fd));
        }
        if (file.position() != 0) {
            maker.call("seek in " + name, Syscall.LSEEK, fd, file.position(), 0);
        }
        return fd;
    }
}
