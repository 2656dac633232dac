package org.udckpt.process.kinds.named;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Files of /proc and /sys: opened again by their names. */
public final class PseudoFileKind implements DescriptorKind<PseudoFile> {
    @Override
    public Class<PseudoFile> record() {
        return PseudoFile.class;
    }

    @Override
    public String shown(PseudoFile file) {
        return file.path();
    }

    @Override
    public void check(PseudoFile file, RowCheck row, CheckedImage image) throws BrokenTable {
        row.path("path", file.path());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new PseudoFileCapture(scope);
    }

    @Override
    public KindRestore<PseudoFile> restore(RestoreScope scope) {
        return new NamedRestore<>(scope, PseudoFile::path, PseudoFile::flags, PseudoFile::position);
    }
}
