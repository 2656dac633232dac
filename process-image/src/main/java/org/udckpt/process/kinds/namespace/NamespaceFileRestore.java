package org.udckpt.process.kinds.namespace;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.OpenFlags;

/** Opens the namespaces that the process is in now. */
final class NamespaceFileRestore implements KindRestore<NamespaceFile> {
    @Override
    public long make(Maker maker, NamespaceFile file) {
        String name = "/proc/self/ns/" + file.namespace(); // a link that the kernel follows to no path
        return maker.call("open " + name, Syscall.OPEN, maker.string(name), OpenFlags.kept(file.flags()), 0);
    }
}
