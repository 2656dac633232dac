package org.udckpt.process.kinds.file;

import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.model.OpenFile;

/** Regular files that are open, and handles (O_PATH) of those that have lost their names. */
final class OpenFileCapture implements KindCapture {
    private final CaptureScope scope;

    OpenFileCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public boolean takesHandles() {
        return true;
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.link().startsWith("/") && !open.pseudo() && open.stat().type() == Files.Stat.REGULAR
                && !open.messageQueue() && (!open.onlyNames() || open.namelessFile());
    }

    @Override
    public long read(OpenDescriptor open) {
        long backing = scope.contentOf(open);
        String name = scope.nameOnDisk(open);
        if (backing == 0) {
            scope.names().file(open, name);
        }
        Files.Stat stat = open.stat();
        long id = scope.table().newId();
        scope.table().add(new OpenFile(id, name, open.openFlags(), open.position(), stat.size(),
                stat.mode() & 07777, stat.device(), stat.inode(), stat.modified(), backing));
        if (!name.equals(open.name())) {
            scope.table().add(new FormerName(scope.table().newId(), id, open.name()));
        }
        return id;
    }
}
