package org.udckpt.process.kinds.binaryoption;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.Descriptor;

/** Sets binary options again, when sockets have sent each other what was in their queues. */
final class BinaryOptionRestore implements KindRestore<BinaryOption> {
    private final RestoreScope scope;

    BinaryOptionRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void placed() {
        scope.objects(BinaryOption.class).forEach(this::set);
    }

    private void set(BinaryOption option) {
        Descriptor any = scope.descriptor(option.object());
        Maker maker = scope.process(any.pid());
        maker.call(
                "set option " + option.optionName() + " of level " + option.optionLevel() + " of descriptor "
                        + any.fd(),
                Syscall.SETSOCKOPT, any.fd(), option.optionLevel(), option.optionName(),
                maker.bytes(option.optionValue()),
                option.optionValue().length);
    }
}
