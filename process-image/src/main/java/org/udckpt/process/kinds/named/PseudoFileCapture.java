package org.udckpt.process.kinds.named;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;

/** Files of /proc and /sys whose owner, if they have one, is there. */
final class PseudoFileCapture implements KindCapture {
    private final CaptureScope scope;

    PseudoFileCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.pseudo() && !scope.names().ofEnded(open);
    }

    @Override
    public long read(OpenDescriptor open) {
        String name = scope.names().pseudo(open);
        long id = scope.table().newId();
        scope.table().add(new PseudoFile(id, name, open.openFlags(), open.position()));
        return id;
    }
}
