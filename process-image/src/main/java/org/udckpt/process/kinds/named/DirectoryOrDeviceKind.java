package org.udckpt.process.kinds.named;

import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Directories, devices without a state, and handles that only name something (O_PATH): opened again by their names. */
public final class DirectoryOrDeviceKind implements DescriptorKind<DirectoryOrDevice> {
    @Override
    public Class<DirectoryOrDevice> record() {
        return DirectoryOrDevice.class;
    }

    @Override
    public String shown(DirectoryOrDevice file) {
        return file.path();
    }

    @Override
    public DirectoryOrDevice moved(DirectoryOrDevice file, UnaryOperator<String> moves) {
        return new DirectoryOrDevice(file.id(), moves.apply(file.path()), file.flags(), file.position());
    }

    @Override
    public void check(DirectoryOrDevice file, RowCheck row, CheckedImage image) throws BrokenTable {
        row.path("path", file.path());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new DirectoryOrDeviceCapture(scope);
    }

    @Override
    public KindRestore<DirectoryOrDevice> restore(RestoreScope scope) {
        return new NamedRestore<>(
                scope, DirectoryOrDevice::path, DirectoryOrDevice::flags, DirectoryOrDevice::position);
    }
}
