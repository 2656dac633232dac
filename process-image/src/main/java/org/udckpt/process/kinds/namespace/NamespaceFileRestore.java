package org.udckpt.process.kinds.namespace;

import org.udckpt.linux.Files;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.OpenFlags;
import org.udckpt.process.kinds.base.RestoreScope;

/** Opens the namespaces that the process, or another one, is in now. */
final class NamespaceFileRestore implements KindRestore<NamespaceFile> {
    private final RestoreScope scope;

    NamespaceFileRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public long make(Maker maker, NamespaceFile file) {
        for (NamespaceFilePlace place : scope.objects(NamespaceFilePlace.class)) {
            if (place.namespaceFile() == file.id()) {
                return given(maker, file, "/proc/" + scope.process(place.pid()).hostPid() + "/ns/" + file.namespace());
            }
        }
        String name = "/proc/self/ns/" + file.namespace(); // a link that the kernel follows to no path
        return maker.call("open " + name, Syscall.OPEN, maker.string(name), OpenFlags.kept(file.flags()), 0);
    }

    /** Not every process may open those of others. */
    private long given(Maker maker, NamespaceFile file, String path) {
        int opened = Files.open(path, OpenFlags.kept(file.flags()));
        try {
            return scope.give(maker, opened);
        } finally {
            Files.close(opened);
        }
    }
}
