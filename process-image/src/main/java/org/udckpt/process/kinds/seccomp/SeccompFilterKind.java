package org.udckpt.process.kinds.seccomp;

import org.udckpt.process.kinds.base.CallFilter;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ClassicBpf;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Filters of system calls, and strict mode (seccomp(2)). */
public final class SeccompFilterKind implements ObjectKind<SeccompFilter> {
    @Override
    public Class<SeccompFilter> record() {
        return SeccompFilter.class;
    }

    @Override
    public String shown(SeccompFilter filter) {
        int length = filter.program().length / ClassicBpf.INSTRUCTION;
        return "thread " + filter.tid() + (length == 0 ? ", strict mode" : ", " + length + " instructions");
    }

    @Override
    public void check(SeccompFilter filter, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.image().threads().stream()
                .anyMatch(thread -> thread.pid() == filter.pid() && thread.tid() == filter.tid()),
                "tid %d is not a thread of its process", filter.tid());
        row.require((filter.flags() & ~CallFilter.LOG) == 0, "flags 0x%x are none of a filter", filter.flags());
        ClassicBpf.check(row, filter.program(), 0);
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new SeccompFilterCapture(scope);
    }

    @Override
    public KindRestore<SeccompFilter> restore(RestoreScope scope) {
        return new SeccompFilterRestore(scope);
    }
}
