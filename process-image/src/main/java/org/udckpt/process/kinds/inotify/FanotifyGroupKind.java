package org.udckpt.process.kinds.inotify;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Groups of fanotify(7) that only hear of what happens, as root. */
public final class FanotifyGroupKind implements DescriptorKind<FanotifyGroup> {
    @Override
    public Class<FanotifyGroup> record() {
        return FanotifyGroup.class;
    }

    @Override
    public String shown(FanotifyGroup group) {
        return "";
    }

    @Override
    public void check(FanotifyGroup group, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require((group.groupFlags() & FanotifyGroup.DECIDES) == 0, "groupFlags 0x%x are those of a group that "
                + "decides", group.groupFlags());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new FanotifyCapture(scope);
    }

    @Override
    public KindRestore<FanotifyGroup> restore(RestoreScope scope) {
        return new FanotifyRestore(scope);
    }
}
