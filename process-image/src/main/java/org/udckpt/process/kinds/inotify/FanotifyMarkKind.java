package org.udckpt.process.kinds.inotify;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Marks of fanotify(7): captured and restored with their groups. */
public final class FanotifyMarkKind implements ObjectKind<FanotifyMark> {
    @Override
    public Class<FanotifyMark> record() {
        return FanotifyMark.class;
    }

    @Override
    public String shown(FanotifyMark mark) {
        return mark.path();
    }

    @Override
    public void check(FanotifyMark mark, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(mark.object(), FanotifyGroup.class) && image.isOpen(mark.object()),
                "object %d is not an open group of fanotify", mark.object());
        row.path("path", mark.path());
        row.require(mark.marked() == 0 || mark.marked() == FanotifyMark.MOUNT
                || mark.marked() == FanotifyMark.FILESYSTEM, "marked 0x%x is nothing that can be marked",
                mark.marked());
    }
}
