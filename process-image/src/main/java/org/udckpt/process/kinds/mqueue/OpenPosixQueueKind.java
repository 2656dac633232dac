package org.udckpt.process.kinds.mqueue;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Descriptors of POSIX message queues. */
public final class OpenPosixQueueKind implements DescriptorKind<OpenPosixQueue> {
    @Override
    public Class<OpenPosixQueue> record() {
        return OpenPosixQueue.class;
    }

    @Override
    public String shown(OpenPosixQueue open) {
        return "";
    }

    @Override
    public void check(OpenPosixQueue open, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(open.queue(), PosixQueue.class), "queue %d is not the id of a POSIX message queue",
                open.queue());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new PosixQueueCapture(scope);
    }

    @Override
    public KindRestore<OpenPosixQueue> restore(RestoreScope scope) {
        return new PosixQueueRestore(scope);
    }
}
