package org.udckpt.process.kinds.unix;

import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;

import java.util.function.UnaryOperator;
import org.udckpt.linux.RawText;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Names of the senders of datagrams in unix sockets: captured and restored with the sockets. */
public final class SenderNameKind implements ObjectKind<SenderName> {
    @Override
    public Class<SenderName> record() {
        return SenderName.class;
    }

    @Override
    public String shown(SenderName sender) {
        return RawText.decode(sender.name()).replace('\0', '@');
    }

    @Override
    public SenderName moved(SenderName sender, UnaryOperator<String> moves) {
        return new SenderName(sender.id(), sender.object(), sender.message(),
                UnixSocketKind.moved(sender.name(), moves));
    }

    @Override
    public void check(SenderName sender, RowCheck row, CheckedImage image) throws BrokenTable {
        DescriptorInFlightKind.message(sender.object(), sender.message(), row, image);
        row.require(((UnixSocket) image.get(sender.object())).type() == SOCK_DGRAM, "socket %d has no datagrams",
                sender.object());
        row.bytes("name", sender.name(), 1, UnixSocketKind.SUN_PATH, 1);
    }
}
