package org.udckpt.process.kinds.iouring;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Registered files of rings: captured and restored with them. */
public final class RingRegistrationKind implements ObjectKind<RingRegistration> {
    @Override
    public Class<RingRegistration> record() {
        return RingRegistration.class;
    }

    @Override
    public String shown(RingRegistration one) {
        return one.files().length / Long.BYTES + " places for files of io_uring " + one.ioUring();
    }

    @Override
    public void check(RingRegistration one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.get(one.ioUring()) instanceof IoUring, "ioUring %d is none", one.ioUring());
        row.bytes("files", one.files(), 0, RingRegistration.MOST_FILES * Long.BYTES, Long.BYTES);
        for (long file : RingFiles.ids(one.files())) {
            row.require(file == 0 || image.isOpen(file), "files name object %d, which is not open", file);
        }
        row.between(0, RingRegistration.MOST_SLOTS - 1, "slot", one.slot());
        IoUring ring = (IoUring) image.get(one.ioUring());
        row.require(one.registrar() == 0 || IoUringKind.isThread(image, ring.pid(), one.registrar()),
                "registrar %d is not a thread of the ring's process", one.registrar());
    }
}
