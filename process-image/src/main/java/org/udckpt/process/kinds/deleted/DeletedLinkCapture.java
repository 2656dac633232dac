package org.udckpt.process.kinds.deleted;

import org.udckpt.linux.Files;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;

/** Reads symbolic links without a name, through their handles. */
final class DeletedLinkCapture implements KindCapture {
    private final CaptureScope scope;

    DeletedLinkCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public boolean takesHandles() {
        return true;
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.deletedLink();
    }

    @Override
    public long read(OpenDescriptor open) {
        Files.Stat stat = open.stat();
        if (User.id() != 0 && stat.uid() != User.id()) {
            throw open.refuse("the deleted symbolic link " + open.name() + " belongs to user " + stat.uid()
                    + ", for whom this user cannot make it again; close it first");
        }
        String target = open.duplicated(link -> Files.readLink(link));
        long id = scope.table().newId();
        scope.table().add(new DeletedLink(id, open.name(), open.openFlags(), target, stat.uid(), stat.gid(),
                stat.modified()));
        return id;
    }
}
