package org.udckpt.process.kinds.epoll;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** What an epoll descriptor watches: captured and restored with it. */
public final class EpollEntryKind implements ObjectKind<EpollEntry> {
    @Override
    public Class<EpollEntry> record() {
        return EpollEntry.class;
    }

    @Override
    public String shown(EpollEntry entry) {
        return "";
    }

    @Override
    public void check(EpollEntry entry, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(entry.epoll(), Epoll.class), "epoll %d is not the id of an epoll instance", entry.epoll());
        row.between(0, CheckedImage.MOST_DESCRIPTOR, "fd", entry.fd());
        row.require(entry.object() == 0 || image.canBeOpen(entry.object()), CheckedImage.CANNOT_BE_OPEN,
                entry.object());
    }
}
