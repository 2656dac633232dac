package org.udckpt.coordination.tree;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One message between neighbours: version and kind (a byte each), the job's incarnation, how far the sender has got the
 * receiver's numbered messages without a gap, this one's own number (0: a heartbeat, which is not repeated), then what
 * the kind says. Big-endian.
 *
 * @param incarnation the job's, so that nothing of an earlier one counts
 * @param got the receiver need not keep its messages up to this number
 */
record TreeMessage(Kind kind, int incarnation, int got, int number, byte[] body) {
    private static final byte VERSION = 1;
    static final int HEADER_BYTES = 14;
    static final int MAX_BODY_BYTES = TreeTransport.MAX_MESSAGE_BYTES - HEADER_BYTES;
    private static final int MAX_TEXT_BYTES = 512;
    private static final int MAX_COUNTS = 255;

    enum Kind {
        /** To the parent; the first one makes the sender its child. Who is lost. */
        HEARTBEAT_UP,
        /** To a child. Whether the sender has lost the root; who is lost. */
        HEARTBEAT_DOWN,
        CALL,
        RESULT,
        /** A message of one of the parts above the tree. */
        POST;

        private static final Kind[] ALL = values();

        boolean isHeartbeat() {
            return this == HEARTBEAT_UP || this == HEARTBEAT_DOWN;
        }
    }

    byte[] encode() {
        return ByteBuffer.allocate(HEADER_BYTES + body.length).put(VERSION).put((byte) kind.ordinal())
                .putInt(incarnation).putInt(got).putInt(number).put(body).array();
    }

    static TreeMessage decode(byte[] bytes) throws MalformedMessage {
        if (bytes.length < HEADER_BYTES || bytes.length > TreeTransport.MAX_MESSAGE_BYTES) {
            throw new MalformedMessage("a message of " + bytes.length + " bytes");
        }
        ByteBuffer from = ByteBuffer.wrap(bytes);
        byte version = from.get();
        int kind = from.get();
        if (version != VERSION || kind < 0 || kind >= Kind.ALL.length) {
            throw new MalformedMessage("a message of version " + version + " and kind " + kind);
        }
        TreeMessage message = new TreeMessage(Kind.ALL[kind], from.getInt(), from.getInt(), from.getInt(),
                Arrays.copyOfRange(bytes, HEADER_BYTES, bytes.length));
        if (message.got < 0 || message.number < 0 || message.kind.isHeartbeat() != (message.number == 0)) {
            throw new MalformedMessage("a message of kind " + message.kind + " with the number " + message.number);
        }
        return message;
    }

    /** What a heartbeat says. */
    record Heartbeat(boolean over, int[] lost) {
        byte[] encode() {
            ByteBuffer to = ByteBuffer.allocate(1 + 4 * lost.length).put((byte) (over ? 1 : 0));
            to.asIntBuffer().put(lost);
            return to.array();
        }

        static Heartbeat decode(byte[] body, int nodes) throws MalformedMessage {
            if (body.length % 4 != 1 || body[0] < 0 || body[0] > 1) {
                throw new MalformedMessage("a heartbeat of " + body.length + " bytes");
            }
            int[] lost = new int[body.length / 4];
            ByteBuffer.wrap(body, 1, body.length - 1).slice().asIntBuffer().get(lost);
            for (int node : lost) {
                if (node < 0 || node >= nodes) {
                    throw new MalformedMessage("a heartbeat names node " + node + " of " + nodes);
                }
            }
            return new Heartbeat(body[0] == 1, lost);
        }
    }

    static byte[] encode(Call call) {
        return ByteBuffer.allocate(18 + call.body().length).putLong(call.id()).put((byte) call.op())
                .put((byte) (call.all() ? 1 : 0)).putLong(call.budget())
                .put(call.body()).array();
    }

    static Call call(byte[] body) throws MalformedMessage {
        try {
            ByteBuffer from = ByteBuffer.wrap(body);
            long id = from.getLong();
            int op = Byte.toUnsignedInt(from.get());
            boolean all = from.get() != 0;
            long budget = from.getLong();
            return new Call(id, op, all, budget, Arrays.copyOfRange(body, from.position(), body.length));
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw new MalformedMessage("a call of " + body.length + " bytes: " + e.getMessage(), e);
        }
    }

    /** A subtree's answer to a call. */
    record Result(long call, CallResult tally) {
        byte[] encode() {
            CallResult.Failure failure = tally.failure();
            byte[] whole = failure == null ? new byte[0] : failure.text().getBytes(StandardCharsets.UTF_8);
            byte[] text = Arrays.copyOf(whole, Math.min(MAX_TEXT_BYTES, whole.length));
            ByteBuffer to = ByteBuffer.allocate(30 + 8 * (tally.levels().length + tally.sums().length) + text.length);
            to.putLong(call).putInt(tally.nodes()).putInt(tally.slowest()).putLong(tally.longest());
            to.put((byte) tally.levels().length).put((byte) tally.sums().length)
                    .putInt(failure == null ? -1 : failure.node());
            for (long level : tally.levels()) {
                to.putLong(level);
            }
            for (long sum : tally.sums()) {
                to.putLong(sum);
            }
            return to.put(text).array();
        }

        static Result decode(byte[] body) throws MalformedMessage {
            try {
                ByteBuffer from = ByteBuffer.wrap(body);
                long call = from.getLong();
                int nodes = from.getInt();
                int slowest = from.getInt();
                long longest = from.getLong();
                long[] levels = new long[Byte.toUnsignedInt(from.get())];
                long[] sums = new long[Byte.toUnsignedInt(from.get())];
                int failed = from.getInt();
                for (int i = 0; i < levels.length; i++) {
                    levels[i] = from.getLong();
                }
                for (int i = 0; i < sums.length; i++) {
                    sums[i] = from.getLong();
                }
                byte[] text = new byte[from.remaining()];
                from.get(text);
                CallResult.Failure failure =
                        failed < 0 ? null : new CallResult.Failure(failed, new String(text, StandardCharsets.UTF_8));
                return new Result(call, new CallResult(nodes, failure, slowest, longest, levels, sums));
            } catch (BufferUnderflowException e) {
                throw new MalformedMessage("a result of " + body.length + " bytes", e);
            }
        }
    }

    /** @throws IllegalArgumentException if there are more counts than a result can hold */
    static void check(long[] sums) {
        if (sums.length > MAX_COUNTS) {
            throw new IllegalArgumentException(
                    sums.length + " counts in an answer, at most " + MAX_COUNTS + " are allowed");
        }
    }
}
