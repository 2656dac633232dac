package org.udckpt.job.coordinator;

import java.nio.ByteBuffer;
import org.udckpt.job.tree.Call;
import org.udckpt.job.tree.MalformedMessage;

/**
 * What a call asks of a node.
 *
 * @param op         what
 * @param checkpoint its number in the catalogue; 0 where it is of none
 * @param round      of DRAIN, from 0
 */
public record Request(Op op, long checkpoint, int round) {
    byte[] encode() {
        return ByteBuffer.allocate(12).putLong(checkpoint).putInt(round).array();
    }

    static Request of(Call call) throws MalformedMessage {
        if (call.body().length != 12) {
            throw new MalformedMessage(call + " has a body of " + call.body().length + " bytes");
        }
        try {
            ByteBuffer body = ByteBuffer.wrap(call.body());
            return new Request(Op.of(call.op()), body.getLong(), body.getInt());
        } catch (IllegalArgumentException e) {
            throw new MalformedMessage(call + ": " + e.getMessage(), e);
        }
    }

    @Override
    public String toString() {
        return op + " of checkpoint " + checkpoint + (op == Op.DRAIN ? ", round " + round : "");
    }
}
