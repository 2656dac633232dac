package org.udckpt.process.kinds.mount;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.RowCheck;

/** File systems that only mount namespaces of the job have. */
public final class JobFilesystemKind implements ObjectKind<JobFilesystem> {
    @Override
    public Class<JobFilesystem> record() {
        return JobFilesystem.class;
    }

    @Override
    public String shown(JobFilesystem one) {
        return one.fileSystem();
    }

    @Override
    public void check(JobFilesystem one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.text("fileSystem", one.fileSystem());
        row.text("mounted", one.mounted());
        row.text("settings", one.settings());
        row.require(MountNamespace.MADE_AGAIN.contains(one.fileSystem()), "fileSystem is none that a restart mounts "
                + "(length %d)", one.fileSystem().length());
    }
}
