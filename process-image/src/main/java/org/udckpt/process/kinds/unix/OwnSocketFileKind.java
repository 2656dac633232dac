package org.udckpt.process.kinds.unix;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.NamespaceMember;
import org.udckpt.process.model.RowCheck;

/** Files of sockets on file systems of the job's own: captured and restored with the sockets. */
public final class OwnSocketFileKind implements ObjectKind<OwnSocketFile> {
    @Override
    public Class<OwnSocketFile> record() {
        return OwnSocketFile.class;
    }

    @Override
    public String shown(OwnSocketFile file) {
        return file.path();
    }

    @Override
    public void check(OwnSocketFile file, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.get(file.object()) instanceof UnixSocket socket && socket.name().length > 0
                && socket.name()[0] != 0, "object %d is not a unix socket bound to a path", file.object());
        row.require(image.image().objects().stream()
                .anyMatch(one -> one instanceof NamespaceMember member && member.tree() == file.tree()),
                "nobody is in mount namespace %d", file.tree());
        row.path("path", file.path());
        row.between(0, 07777, "mode", file.mode());
    }
}
