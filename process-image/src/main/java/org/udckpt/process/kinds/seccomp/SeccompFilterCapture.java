package org.udckpt.process.kinds.seccomp;

import org.udckpt.process.kinds.base.CallFilter;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.StoppedProcess;

/** The filters were read by the tracer, which alone can. */
final class SeccompFilterCapture implements KindCapture {
    private final CaptureScope scope;

    SeccompFilterCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public void finish() {
        for (StoppedProcess process : scope.processes()) {
            for (CallFilter filter : process.callFilters()) {
                scope.table().add(new SeccompFilter(scope.table().newId(), process.namespacePid(), filter.tid(),
                        filter.flags(), filter.program()));
            }
        }
    }
}
