package org.udckpt.process.kinds.deleted;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Processes that work in a directory without a name; read with those directories. */
public final class DeletedWorkingDirectoryKind implements ObjectKind<DeletedWorkingDirectory> {
    @Override
    public Class<DeletedWorkingDirectory> record() {
        return DeletedWorkingDirectory.class;
    }

    @Override
    public String shown(DeletedWorkingDirectory entered) {
        return "of process " + entered.pid();
    }

    @Override
    public void check(DeletedWorkingDirectory entered, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(entered.pid()), "there is no process %d", entered.pid());
        row.require(image.is(entered.backing(), DeletedDirectory.class), OpenDeletedDirectoryKind.NOT_ONE,
                entered.backing());
    }

    @Override
    public KindRestore<DeletedWorkingDirectory> restore(RestoreScope scope) {
        return new KindRestore<>() {
            @Override
            public void connect() {
                scope.objects(DeletedWorkingDirectory.class).forEach(this::enter);
            }

            private void enter(DeletedWorkingDirectory entered) {
                Maker maker = scope.process(entered.pid());
                maker.call("enter its deleted working directory", Syscall.FCHDIR,
                        scope.made().in(maker, entered.backing()));
            }
        };
    }
}
