package org.udckpt.process.kinds.memory;

import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.RowCheck;

/** Programs and libraries that are mapped, and must be there unchanged. */
public final class MappedFileKind implements ObjectKind<MappedFile> {
    @Override
    public Class<MappedFile> record() {
        return MappedFile.class;
    }

    @Override
    public String shown(MappedFile file) {
        return file.path();
    }

    @Override
    public MappedFile moved(MappedFile file, UnaryOperator<String> moves) {
        return new MappedFile(file.id(), moves.apply(file.path()), file.size(), file.modifiedNs());
    }

    @Override
    public void check(MappedFile file, RowCheck row, CheckedImage image) throws BrokenTable {
        row.absolute("path", file.path());
        row.notNegative("size", file.size());
    }
}
