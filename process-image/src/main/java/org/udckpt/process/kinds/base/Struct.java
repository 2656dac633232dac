package org.udckpt.process.kinds.base;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** A C structure for an injected call, field by field, little-endian, without padding of its own. */
public final class Struct {
    private final Maker maker;
    private ByteBuffer bytes = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);

    /** Empty, for a call in {@code maker}. */
    public Struct(Maker maker) {
        this.maker = maker;
    }

    /** Two bytes. */
    public Struct i16(int value) {
        bytes.putShort((short) value);
        return this;
    }

    /** Four bytes. */
    public Struct i32(int value) {
        bytes.putInt(value);
        return this;
    }

    /** Eight bytes. */
    public Struct i64(long value) {
        bytes.putLong(value);
        return this;
    }

    /** These bytes. */
    public Struct raw(byte[] value) {
        if (bytes.remaining() < value.length) {
            bytes = ByteBuffer.allocate(bytes.position() + value.length + 256)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(bytes.flip());
        }
        bytes.put(value);
        return this;
    }

    /** Seconds and the rest, as struct timespec has them. */
    public Struct time(long nanoseconds) {
        return i64(nanoseconds / 1_000_000_000L).i64(nanoseconds % 1_000_000_000L);
    }

    /** Bytes so far. */
    public int size() {
        return bytes.position();
    }

    /** What it is so far. */
    public byte[] bytes() {
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    /** Its address in the process's scratch memory, until the next call. */
    public long put() {
        return maker.bytes(bytes());
    }
}
