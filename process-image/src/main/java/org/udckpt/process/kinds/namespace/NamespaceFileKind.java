package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Open namespaces, which are those of processes of the job: after a restart their new ones. */
public final class NamespaceFileKind implements DescriptorKind<NamespaceFile> {
    @Override
    public Class<NamespaceFile> record() {
        return NamespaceFile.class;
    }

    @Override
    public String shown(NamespaceFile file) {
        return file.namespace();
    }

    @Override
    public void check(NamespaceFile file, RowCheck row, CheckedImage image) throws BrokenTable {
        row.text("namespace", file.namespace());
        row.require(NamespaceFile.isName(file.namespace()), "namespace is of no kind (length %d)",
                file.namespace().length());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new NamespaceFileCapture(scope);
    }

    @Override
    public KindRestore<NamespaceFile> restore(RestoreScope scope) {
        return new NamespaceFileRestore(scope);
    }
}
