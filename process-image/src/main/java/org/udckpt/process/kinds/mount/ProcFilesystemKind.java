package org.udckpt.process.kinds.mount;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.ProcFilesystem;
import org.udckpt.process.model.RowCheck;

/** Which pid namespace of the job a proc file system shows. */
public final class ProcFilesystemKind implements ObjectKind<ProcFilesystem> {
    @Override
    public Class<ProcFilesystem> record() {
        return ProcFilesystem.class;
    }

    @Override
    public String shown(ProcFilesystem one) {
        return "file system " + one.filesystem() + " of namespace " + one.pidNamespace();
    }

    @Override
    public void check(ProcFilesystem one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.get(one.filesystem()) instanceof JobFilesystem system && system.fileSystem().equals("proc"),
                "filesystem %d is none of /proc", one.filesystem());
        row.require(image.is(one.pidNamespace(), PidNamespace.class), "pidNamespace %d is none", one.pidNamespace());
    }
}
