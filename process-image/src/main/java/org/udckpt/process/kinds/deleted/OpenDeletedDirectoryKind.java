package org.udckpt.process.kinds.deleted;

import java.util.function.UnaryOperator;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.OpenFlags;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Descriptors of directories without a name: opened by way of the directory itself. */
public final class OpenDeletedDirectoryKind implements DescriptorKind<OpenDeletedDirectory> {
    static final String NOT_ONE = "backing %d is not the id of a deleted directory";

    @Override
    public Class<OpenDeletedDirectory> record() {
        return OpenDeletedDirectory.class;
    }

    @Override
    public String shown(OpenDeletedDirectory open) {
        return open.path();
    }

    @Override
    public OpenDeletedDirectory moved(OpenDeletedDirectory open, UnaryOperator<String> moves) {
        return new OpenDeletedDirectory(open.id(), moves.apply(open.path()), open.flags(), open.position(),
                open.backing());
    }

    @Override
    public void check(OpenDeletedDirectory open, RowCheck row, CheckedImage image) throws BrokenTable {
        row.path("path", open.path());
        row.require(image.is(open.backing(), DeletedDirectory.class), NOT_ONE, open.backing());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new DeletedDirectoryCapture(scope);
    }

    @Override
    public KindRestore<OpenDeletedDirectory> restore(RestoreScope scope) {
        return new KindRestore<>() {
            @Override
            public long make(Maker maker, OpenDeletedDirectory open) {
                String what = "open the deleted directory " + open.path();
                long directory = scope.made().in(maker, open.backing());
                long fd =
                        maker.call(what, Syscall.OPENAT, directory, maker.string("."), OpenFlags.kept(open.flags()), 0);
                if (open.position() != 0) {
                    maker.call("seek in " + open.path(), Syscall.LSEEK, fd, open.position(), 0);
                }
                return fd;
            }
        };
    }
}
