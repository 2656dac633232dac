package org.udckpt.coordination.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.udckpt.coordination.tree.Call;
import org.udckpt.coordination.tree.MalformedMessage;

/**
 * What a call asks of a node.
 *
 * @param op         what
 * @param checkpoint its number in the catalogue; 0 where it is of none
 * @param round      of DRAIN, from 0
 * @param order      of SUSPEND: what the nodes must know of the image to come; as the job's owner gave it
 */
public record Request(Op op, long checkpoint, int round, String order) {
    private static final int HEADER_BYTES = 12;

    /** Without an order. */
    public Request(Op op, long checkpoint, int round) {
        this(op, checkpoint, round, "");
    }

    byte[] encode() {
        byte[] text = order.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(HEADER_BYTES + text.length).putLong(checkpoint).putInt(round).put(text).array();
    }

    static Request of(Call call) throws MalformedMessage {
        if (call.body().length < HEADER_BYTES) {
            throw new MalformedMessage(call + " has a body of " + call.body().length + " bytes");
        }
        try {
            ByteBuffer body = ByteBuffer.wrap(call.body());
            return new Request(Op.of(call.op()), body.getLong(), body.getInt(),
                    StandardCharsets.UTF_8.decode(body).toString());
        } catch (IllegalArgumentException e) {
            throw new MalformedMessage(call + ": " + e.getMessage(), e);
        }
    }

    @Override
    public String toString() {
        return op + " of checkpoint " + checkpoint + (op == Op.DRAIN ? ", round " + round : "");
    }
}
