package org.udckpt.process.kinds.namespace;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;

/** Finds open namespaces: they must be the process's own, since a restart makes no others. */
final class NamespaceFileCapture implements KindCapture {
    private static final Pattern LINK = Pattern.compile("([a-z]+):\\[\\d+\\]");

    private final CaptureScope scope;

    NamespaceFileCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        Matcher link = LINK.matcher(open.link());
        return link.matches() && NamespaceFile.isName(link.group(1));
    }

    @Override
    public long read(OpenDescriptor open) {
        String name = open.link().substring(0, open.link().indexOf(':'));
        if (!open.link().equals(Files.readLink("/proc/" + open.process().task() + "/ns/" + name))) {
            throw open.refuse(open.link() + " is a namespace that the process is not in, which cannot be checkpointed; "
                    + "close it first");
        }
        long id = scope.table().newId();
        scope.table().add(new NamespaceFile(id, name, open.openFlags()));
        return id;
    }
}
