package org.udckpt.process.kinds.named;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Files in /proc of processes and threads that have ended: opened of a child that will have ended, too. */
public final class EndedProcessFileKind implements DescriptorKind<EndedProcessFile> {
    /** Keys of children are below those of descriptors of processes. */
    @Override
    public Class<EndedProcessFile> record() {
        return EndedProcessFile.class;
    }

    @Override
    public String shown(EndedProcessFile file) {
        return file.path();
    }

    @Override
    public long endingChild(EndedProcessFile file) {
        return file.endingChild();
    }

    @Override
    public void check(EndedProcessFile file, RowCheck row, CheckedImage image) throws BrokenTable {
        row.path("path", file.path());
        row.require(EndedProcessFile.isPath(file.path()), "path is not of a process in /proc (length %d)",
                file.path().length());
        row.notNegative("position", file.position());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new EndedProcessFileCapture(scope);
    }

    @Override
    public KindRestore<EndedProcessFile> restore(RestoreScope scope) {
        return new EndedProcessFileRestore(scope);
    }
}
