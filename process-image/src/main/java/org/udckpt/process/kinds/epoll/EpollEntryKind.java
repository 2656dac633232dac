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
        row.is(image.is(entry.epoll(), Epoll.class), "there is no epoll", entry.epoll());
        row.between(0, CheckedImage.MOST_DESCRIPTOR, "fd", entry.fd());
        row.is(entry.object() == 0 || image.canBeOpen(entry.object()), "nothing that can be open is object",
                entry.object());
    }
}
