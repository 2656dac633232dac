package org.udckpt.process.kinds.inotify;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.RowCheck;

/**
 * Watches of files and directories (inotify(7)): their numbers, paths and masks. Events that were not read are told as
 * lost.
 */
public final class InotifyKind implements DescriptorKind<InotifyFd> {
    @Override
    public Class<InotifyFd> record() {
        return InotifyFd.class;
    }

    @Override
    public String shown(InotifyFd inotify) {
        return "";
    }

    @Override
    public void check(InotifyFd inotify, RowCheck row, CheckedImage image) {
        // What it watches is in a table of its own.
    }

    /** A row of the table of watches. */
    public static void check(InotifyWatch watch, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(watch.inotify(), InotifyFd.class), "inotify %d is not the id of an inotify instance",
                watch.inotify());
        row.between(1, InotifyWatch.NUMBER_MOST, "number", watch.number());
        row.path("path", watch.path());
        DescriptorName descriptor = DescriptorName.of(watch.path());
        row.require(descriptor == null || descriptor.isIn(image.image()),
                "path of watch %d is a descriptor that no process has", watch.number());
    }

    /** A row of the table of notices. */
    public static void check(FileNotice.LostEvents lost, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(lost.object(), InotifyFd.class) && image.isOpen(lost.object()),
                "object %d is not an open inotify instance", lost.object());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new InotifyCapture(scope);
    }

    @Override
    public KindRestore<InotifyFd> restore(RestoreScope scope) {
        return new InotifyRestore(scope);
    }
}
