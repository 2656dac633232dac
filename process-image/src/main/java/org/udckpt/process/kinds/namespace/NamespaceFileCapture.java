package org.udckpt.process.kinds.namespace;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StoppedProcess;

/** Finds open namespaces: some process of the job must be in them, since a restart makes no others. */
final class NamespaceFileCapture implements KindCapture {
    private static final Pattern LINK = Pattern.compile("([a-z]+):\\[\\d+\\]");

    private final CaptureScope scope;
    /** By object, those of others than who has them open. */
    private final Map<Long, OpenDescriptor> others = new LinkedHashMap<>();

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
        String name = name(open);
        long id = scope.table().newId();
        scope.table().add(new NamespaceFile(id, name, open.openFlags()));
        if (!has(open.process(), open)) {
            others.put(id, open);
        }
        return id;
    }

    private static String name(OpenDescriptor open) {
        return open.link().substring(0, open.link().indexOf(':'));
    }

    private static boolean has(StoppedProcess process, OpenDescriptor open) {
        return open.link().equals(Files.readLink("/proc/" + process.task() + "/ns/" + name(open)));
    }

    @Override
    public void finish() {
        others.forEach((id, open) -> {
            StoppedProcess member = scope.processes().stream().filter(process -> has(process, open)).findFirst()
                    .orElseThrow(() -> open.refuse(open.link() + " is a namespace that no process of the job is in, "
                            + "which cannot be checkpointed; close it first"));
            scope.table().add(new NamespaceFilePlace(scope.table().newId(), id, member.namespacePid()));
        });
    }
}
