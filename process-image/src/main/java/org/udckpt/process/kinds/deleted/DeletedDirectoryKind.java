package org.udckpt.process.kinds.deleted;

import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Directories without a name; read with what is open of them, and with the processes that work in them. */
public final class DeletedDirectoryKind implements ObjectKind<DeletedDirectory> {
    private static final int PERMISSIONS = 07777;

    @Override
    public Class<DeletedDirectory> record() {
        return DeletedDirectory.class;
    }

    @Override
    public String shown(DeletedDirectory directory) {
        return directory.path();
    }

    @Override
    public DeletedDirectory moved(DeletedDirectory directory, UnaryOperator<String> moves) {
        return new DeletedDirectory(directory.id(), moves.apply(directory.path()), directory.mode(), directory.uid(),
                directory.gid(), directory.modifiedNs(), directory.above());
    }

    @Override
    public void check(DeletedDirectory directory, RowCheck row, CheckedImage image) throws BrokenTable {
        row.path("path", directory.path());
        row.between(0, PERMISSIONS, "mode", directory.mode());
        long above = directory.above();
        row.require(above == 0 || above < directory.id() && image.is(above, DeletedDirectory.class),
                "above %d is not the id of a deleted directory that was recorded before", above);
    }

    @Override
    public KindRestore<DeletedDirectory> restore(RestoreScope scope) {
        return new DeletedDirectoryRestore(scope);
    }
}
