package org.udckpt.process.kinds.aio;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/**
 * Contexts of asynchronous I/O (io_setup(2)) with nothing in flight. They are set up again and moved to where they
 * were, requests that do nothing bring the kernel's place in the ring to where it was, and the ring is put back.
 */
public final class AioContextKind implements ObjectKind<AioContext> {
    @Override
    public Class<AioContext> record() {
        return AioContext.class;
    }

    @Override
    public String shown(AioContext context) {
        return "process %d, at 0x%x, %d events".formatted(context.pid(), context.address(),
                word(context, AioContext.EVENTS));
    }

    static int word(AioContext context, int at) {
        return ByteBuffer.wrap(context.ring()).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
    }

    @Override
    public void check(AioContext context, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(context.pid()), "pid %d is not a process of the image", context.pid());
        row.bytes("ring", context.ring(), RowCheck.PAGE, AioContext.MOST_BYTES, RowCheck.PAGE);
        row.require(word(context, AioContext.EVENTS) == events(context.ring().length),
                "ring has %d events, and not what fits into it", word(context, AioContext.EVENTS));
        row.between(0, events(context.ring().length) - 1L, "ring's head", word(context, AioContext.HEAD));
        row.between(0, events(context.ring().length) - 1L, "ring's tail", word(context, AioContext.TAIL));
        row.require(image.image().regions().stream()
                .anyMatch(region -> region.pid() == context.pid() && region.start() == context.address()
                        && region.size() == context.ring().length && region.backing() == context.id()),
                "address 0x%x is not a mapping of it", context.address());
    }

    /** How many events fit into so many bytes. */
    static int events(int bytes) {
        return (bytes - AioContext.HEADER) / AioContext.EVENT;
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new AioCapture(scope);
    }

    @Override
    public KindRestore<AioContext> restore(RestoreScope scope) {
        return new AioRestore(scope);
    }
}
