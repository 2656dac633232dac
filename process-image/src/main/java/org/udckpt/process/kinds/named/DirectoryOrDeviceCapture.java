package org.udckpt.process.kinds.named;

import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.OpenedByName;

/** Directories, devices without a state, and handles that only name something. */
final class DirectoryOrDeviceCapture implements KindCapture {
    private static final String DELETED = " (deleted)";

    private final CaptureScope scope;

    DirectoryOrDeviceCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public boolean takesHandles() {
        return true;
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        if (open.onlyNames()) {
            return !open.deletedDirectory() && !open.deletedLink() && !open.namelessFile();
        }
        return open.link().startsWith("/") && !open.pseudo()
                && (open.stat().type() == Files.Stat.DIRECTORY && !open.deletedDirectory()
                        || isDevice(open) && OpenedByName.isStateless(open.stat().rawDevice()));
    }

    @Override
    public long read(OpenDescriptor open) {
        String name = name(open);
        long id = scope.table().newId();
        if (name == null) {
            Files.Stat stat = open.stat();
            scope.table().add(new RemovedDevice(id, open.link(), stat.rawDevice(), stat.mode() & 07777, stat.uid(),
                    stat.gid(), open.openFlags()));
            return id;
        }
        scope.table().add(new DirectoryOrDevice(id, name, open.openFlags(),
                !open.onlyNames() && open.stat().type() == Files.Stat.DIRECTORY ? open.position() : 0));
        return id;
    }

    private static boolean isDevice(OpenDescriptor open) {
        return !open.onlyNames() && open.stat().type() == Files.Stat.CHARACTER;
    }

    /** Null: it has none any more. */
    private String name(OpenDescriptor open) {
        String link = open.link();
        if (open.onlyNames() && (!link.startsWith("/") || link.endsWith(DELETED) || link.startsWith("/memfd:"))) {
            throw open.refuse("an O_PATH descriptor of " + link
                    + ", which has no name to reopen it by, cannot be checkpointed; close it first");
        }
        if (isDevice(open)) {
            return scope.names().device(open);
        }
        return scope.names().ofTheSame(open);
    }
}
