package org.udckpt.process.kinds.named;

import java.util.regex.Pattern;
import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;

/** Files in /proc of processes that have ended. */
final class EndedProcessFileCapture implements KindCapture {
    /** Their text goes on, for they hold what they tell of (proc_mounts_open, fs/proc_namespace.c). */
    private static final Pattern OF_MOUNTS = Pattern.compile(".*/(mounts|mountinfo|mountstats)");

    private final CaptureScope scope;

    EndedProcessFileCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.pseudo() && scope.names().ofEnded(open);
    }

    @Override
    public long read(OpenDescriptor open) {
        if (open.position() != 0 && open.stat().type() != Files.Stat.DIRECTORY
                && !OF_MOUNTS.matcher(open.name()).matches()) {
            // the kernel may have more of its text, or knows that there was none
            throw open.refuse(open.link() + " belongs to a process that has ended, and was read before: what is left "
                    + "of its text could not be read after a restart; close it first");
        }
        if (open.process().inPidNamespace()) {
            throw open.refuse(open.link() + " belongs to a process that has ended, and this one is in a pid namespace "
                    + "of its own, which cannot be checkpointed together; close it first");
        }
        long id = scope.table().newId();
        EndedProcessFile file = new EndedProcessFile(id, open.name(), open.openFlags(), open.position());
        scope.names().openable(open, file.of(open.process().namespacePid()));
        scope.table().add(file);
        return id;
    }
}
