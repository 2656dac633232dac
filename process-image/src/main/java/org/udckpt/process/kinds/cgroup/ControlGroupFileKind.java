package org.udckpt.process.kinds.cgroup;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** GroupSettings of control groups, and who may change them. */
public final class ControlGroupFileKind implements ObjectKind<ControlGroupFile> {
    private static final int MODE = 07777, LONGEST = 1 << 20;

    @Override
    public Class<ControlGroupFile> record() {
        return ControlGroupFile.class;
    }

    @Override
    public String shown(ControlGroupFile one) {
        return one.file() + " of group " + one.group();
    }

    @Override
    public void check(ControlGroupFile one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(one.group(), ControlGroup.class), "group %d is none", one.group());
        row.text("file", one.file());
        row.path("file", "/" + one.file());
        row.require(one.file().indexOf('/') < 0 && !one.file().isEmpty(), "file is no name (length %d)",
                one.file().length());
        row.require(one.value().length == 0 || GroupSettings.mayBeSet(one.file()),
                "file is no setting, but has a value (length %d)", one.value().length);
        row.between(0, MODE, "mode", one.mode());
        row.bytes("value", one.value(), 0, LONGEST, 1);
    }
}
