package org.udckpt.process.kinds.aio;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.base.Struct;

/** Sets contexts up again where they were. */
final class AioRestore implements KindRestore<AioContext> {
    private static final int IO_SETUP = 206, IO_GETEVENTS = 208, IO_SUBMIT = 209;
    private static final int MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2, MFD_CLOEXEC = 1;
    /** How many requests are submitted at a time. */
    private static final int AT_A_TIME = 16;

    private final RestoreScope scope;

    AioRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void connect() {
        for (AioContext context : scope.objects(AioContext.class)) {
            Maker maker = scope.process(context.pid());
            long made = setUp(maker, context);
            maker.call("move a context of asynchronous I/O", Syscall.MREMAP, made, context.ring().length,
                    context.ring().length, MREMAP_MAYMOVE | MREMAP_FIXED, context.address());
            count(maker, context);
        }
    }

    /**
     * Its size follows from the number of requests: the kernel doubles it, adds two, and fills the last page; but fewer
     * than four for each processor it does not make.
     */
    private static long setUp(Maker maker, AioContext context) {
        int most = (AioContextKind.events(context.ring().length) - 2) / 2;
        long result = maker.structure().i64(0).put();
        maker.call("io_setup of " + most + " requests (EAGAIN: sysctl fs.aio-max-nr)", IO_SETUP, most, result);
        long made = ByteBuffer.wrap(maker.read(result, Long.BYTES)).order(ByteOrder.LITTLE_ENDIAN).getLong();
        int events = maker.readInt(made + AioContext.EVENTS);
        if (events != AioContextKind.word(context, AioContext.EVENTS)) {
            throw maker.unsupported("a context of asynchronous I/O has %d events on this machine, and had %d: restart "
                    .formatted(events, AioContextKind.word(context, AioContext.EVENTS))
                    + "where there are as many processors as at the checkpoint, or fewer");
        }
        return made;
    }

    /**
     * Brings the kernel's tail to where it was: requests that read nothing are complete at once. Those whose events the
     * program has not taken yet are not taken here either.
     */
    private static void count(Maker maker, AioContext context) {
        int events = AioContextKind.word(context, AioContext.EVENTS);
        int taken = AioContextKind.word(context, AioContext.HEAD);
        int left = Math.floorMod(AioContextKind.word(context, AioContext.TAIL) - taken, events);
        long file = maker.call("memfd_create", Syscall.MEMFD_CREATE, maker.string("aio"), MFD_CLOEXEC);
        for (int done = 0; done < taken + left;) {
            int most = Math.min(AT_A_TIME, (done < taken ? taken : taken + left) - done);
            int next = submit(maker, context.address(), file, most);
            if (done < taken) {
                long taking = maker.bytes(new byte[next * AioContext.EVENT]);
                maker.call("io_getevents", IO_GETEVENTS, context.address(), next, next, taking, 0);
            }
            done += next;
        }
        maker.call("close", Syscall.CLOSE, file);
    }

    /** @return how many it has taken: places are counted for each processor, and another one may have the rest */
    private static int submit(Maker maker, long context, long file, int count) {
        // struct iocb: data, key, flags, IOCB_CMD_PREAD and priority, file, buffer, length, offset, reserved, flags
        long request = maker.structure().i64(0).i32(0).i32(0).i32(0).i32((int) file).i64(0).i64(0).i64(0).i64(0).i64(0)
                .put();
        Struct list = maker.structure();
        for (int i = 0; i < count; i++) {
            list.i64(request);
        }
        return (int) maker.call("io_submit", IO_SUBMIT, context, count, list.put());
    }

    /** But the word by which the kernel finds its context. */
    @Override
    public void complete() {
        for (AioContext context : scope.objects(AioContext.class)) {
            scope.write(scope.process(context.pid()), context.address() + AioContext.KERNELS,
                    Arrays.copyOfRange(context.ring(), AioContext.KERNELS, context.ring().length));
        }
    }
}
