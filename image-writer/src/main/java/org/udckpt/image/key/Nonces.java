package org.udckpt.image.key;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/** Nonces of one writer under one key: its number and a counter, so that none comes twice. Thread-safe. */
final class Nonces {
    private final int writer;
    private final AtomicLong counter = new AtomicLong();

    Nonces(int writer) {
        this.writer = writer;
    }

    /** The next one, with room for a tag behind it. */
    byte[] nextSeal() {
        return ByteBuffer.allocate(ImageCipher.SEAL_BYTES).putInt(0, writer)
                .putLong(ImageCipher.NONCE_BYTES - Long.BYTES, counter.getAndIncrement()).array();
    }
}
