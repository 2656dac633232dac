package org.udckpt.process.kinds.binaryoption;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Options of sockets of the internet whose values are more than a number. */
public final class BinaryOptionKind implements ObjectKind<BinaryOption> {
    @Override
    public Class<BinaryOption> record() {
        return BinaryOption.class;
    }

    @Override
    public String shown(BinaryOption option) {
        return "option " + option.optionName() + " of level " + option.optionLevel() + ", "
                + option.optionValue().length + " bytes";
    }

    @Override
    public void check(BinaryOption option, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.isOpen(option.object()), "object %d has no descriptor", option.object());
        row.bytes("optionValue", option.optionValue(), 1, BinaryOption.MOST, 1);
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new BinaryOptionCapture(scope);
    }

    @Override
    public KindRestore<BinaryOption> restore(RestoreScope scope) {
        return new BinaryOptionRestore(scope);
    }
}
