package org.udckpt.process.restore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** A C structure for an injected call, field by field, little-endian, without padding of its own. */
final class Struct {
    private final Puppet puppet;
    private ByteBuffer bytes = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);

    Struct(Puppet puppet) {
        this.puppet = puppet;
    }

    Struct i16(int value) {
        bytes.putShort((short) value);
        return this;
    }

    Struct i32(int value) {
        bytes.putInt(value);
        return this;
    }

    Struct i64(long value) {
        bytes.putLong(value);
        return this;
    }

    Struct raw(byte[] value) {
        if (bytes.remaining() < value.length) {
            bytes = ByteBuffer.allocate(bytes.position() + value.length + 256).order(ByteOrder.LITTLE_ENDIAN).put(bytes.flip());
        }
        bytes.put(value);
        return this;
    }

    /** Seconds and the rest, as struct timespec has them. */
    Struct time(long nanoseconds) {
        return i64(nanoseconds / 1_000_000_000L).i64(nanoseconds % 1_000_000_000L);
    }

    int size() {
        return bytes.position();
    }

    /** Its address in the puppet's scratch, until the next call. */
    long put() {
        return puppet.bytes(Arrays.copyOf(bytes.array(), bytes.position()));
    }
}
