package org.udckpt.process.kinds.named;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.OpenedByName;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Devices without a state whose nodes were removed, or are under a mount: captured with those that have theirs. */
public final class RemovedDeviceKind implements DescriptorKind<RemovedDevice> {
    @Override
    public Class<RemovedDevice> record() {
        return RemovedDevice.class;
    }

    @Override
    public String shown(RemovedDevice device) {
        return device.formerPath();
    }

    /** Root makes the node: never that of another device. */
    @Override
    public void check(RemovedDevice device, RowCheck row, CheckedImage image) throws BrokenTable {
        row.absolute("formerPath", device.formerPath());
        row.require(OpenedByName.isStateless(device.rawDevice()), "device 0x%x has a state", device.rawDevice());
        row.between(0, 07777, "mode", device.mode());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return KindCapture.NONE;
    }

    @Override
    public KindRestore<RemovedDevice> restore(RestoreScope scope) {
        return new RemovedDeviceRestore(scope);
    }
}
