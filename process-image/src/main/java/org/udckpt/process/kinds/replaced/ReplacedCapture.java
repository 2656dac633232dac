package org.udckpt.process.kinds.replaced;

import java.util.function.Predicate;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.model.KernelObject;

/** Capture of descriptors that a restart replaces; they are recognized by their other end. */
final class ReplacedCapture implements KindCapture {
    private final CaptureScope scope;
    private final Predicate<OpenDescriptor> takes;
    private final Reader reader;

    /** Reads one of them. */
    interface Reader {
        KernelObject read(OpenDescriptor open, long id);
    }

    ReplacedCapture(CaptureScope scope, Predicate<OpenDescriptor> takes, Reader reader) {
        this.scope = scope;
        this.takes = takes;
        this.reader = reader;
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return takes.test(open);
    }

    @Override
    public long read(OpenDescriptor open) {
        long id = scope.table().newId();
        scope.table().add(reader.read(open, id));
        return id;
    }
}
