package org.udckpt.process.kinds.longoption;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.Descriptor;

/** Sets long options again, when sockets have sent each other what was in their queues. */
final class LongOptionRestore implements KindRestore<LongOption> {
    private final RestoreScope scope;

    LongOptionRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void placed() {
        scope.objects(LongOption.class).forEach(this::set);
    }

    private void set(LongOption option) {
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
