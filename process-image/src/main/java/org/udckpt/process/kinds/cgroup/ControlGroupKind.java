package org.udckpt.process.kinds.cgroup;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Control groups of the job's own; the restart of these makes all that belongs to them. */
public final class ControlGroupKind implements ObjectKind<ControlGroup> {
    private static final int MODE = 07777;

    @Override
    public Class<ControlGroup> record() {
        return ControlGroup.class;
    }

    @Override
    public String shown(ControlGroup group) {
        return group.path() + (group.hierarchy().isEmpty() ? "" : " (" + group.hierarchy() + ")");
    }

    @Override
    public void check(ControlGroup group, RowCheck row, CheckedImage image) throws BrokenTable {
        row.text("hierarchy", group.hierarchy());
        row.path("path", group.path());
        row.between(0, MODE, "mode", group.mode());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new ControlGroupCapture(scope);
    }

    @Override
    public KindRestore<ControlGroup> restore(RestoreScope scope) {
        return new ControlGroupRestore(scope);
    }
}
