package org.udckpt.process.kinds.file;

import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.SharedMemory;

/** Regular files that are open; their contents are the work of the package files. */
public final class OpenFileKind implements DescriptorKind<OpenFile> {
    @Override
    public Class<OpenFile> record() {
        return OpenFile.class;
    }

    @Override
    public String shown(OpenFile file) {
        return file.path();
    }

    @Override
    public long position(OpenFile file) {
        return file.position();
    }

    /** Somewhere else lies another file: its inode, 0, is not known. */
    @Override
    public OpenFile moved(OpenFile file, UnaryOperator<String> moves) {
        String path = moves.apply(file.path());
        return new OpenFile(file.id(), path, file.flags(), file.position(), file.size(), file.mode(), file.device(),
                path.equals(file.path()) ? file.inode() : 0, file.modifiedNs(), file.backing());
    }

    @Override
    public void check(OpenFile file, RowCheck row, CheckedImage image) throws BrokenTable {
        row.absolute("path", file.path());
        row.notNegative("size", file.size());
        row.notNegative("position", file.position());
        row.require(file.backing() == 0 || image.get(file.backing()) instanceof SharedMemory memory
                && memory.kind() != MemoryKind.MOUNTED_FILE,
                CheckedImage.NOT_SHARED_MEMORY, file.backing());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new OpenFileCapture(scope);
    }

    @Override
    public KindRestore<OpenFile> restore(RestoreScope scope) {
        return new OpenFileRestore(scope);
    }
}
