package org.udckpt.process.kinds.pidfd;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.RowCheck;

/**
 * Descriptors of processes and threads of the job (pidfd_open(2), CLONE_PIDFD of clone(2)): also of children that have
 * ended, whether they were waited for or not. One of a process outside of the job is refused.
 */
public final class PidFdKind implements DescriptorKind<PidFd> {
    @Override
    public Class<PidFd> record() {
        return PidFd.class;
    }

    @Override
    public String shown(PidFd descriptor) {
        String what = descriptor.ofThread() ? "thread" : "process";
        return descriptor.gone() ? what + " that has ended" : what + " " + descriptor.pid();
    }

    @Override
    public long endingChild(PidFd descriptor) {
        return descriptor.pid() < 0 ? descriptor.pid() : descriptor.gone() ? descriptor.id() : 0;
    }

    @Override
    public void check(PidFd descriptor, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(descriptor.gone() || isThere(image.image(), descriptor),
                "pid %d is not a process or thread of the image", descriptor.pid());
    }

    private static boolean isThere(JobImage image, PidFd descriptor) {
        return image.processes().stream().anyMatch(one -> one.pid() == descriptor.pid())
                || image.zombies().stream().anyMatch(one -> one.pid() == descriptor.pid())
                || descriptor.ofThread() && image.threads().stream().anyMatch(one -> one.tid() == descriptor.pid());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new PidFdCapture(scope);
    }

    @Override
    public KindRestore<PidFd> restore(RestoreScope scope) {
        return new PidFdRestore(scope);
    }
}
