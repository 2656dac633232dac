package org.udckpt.ud;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import org.udckpt.fuzz.Fuzzes;

/** What a process of the job writes to its agent: messages one after the other. */
@Fuzzes({MessageChannel.class, MessageCodec.class})
public final class MessageFuzz {
    private MessageFuzz() {}

    /** Reads the input; nothing is written. */
    private static final class Input implements ByteChannel {
        private final ByteBuffer bytes;

        private Input(byte[] bytes) {
            this.bytes = ByteBuffer.wrap(bytes);
        }

        @Override
        public int read(ByteBuffer into) {
            int count = Math.min(into.remaining(), bytes.remaining());
            into.put(bytes.slice(bytes.position(), count));
            bytes.position(bytes.position() + count);
            return count == 0 && into.hasRemaining() ? -1 : count;
        }

        @Override
        public int write(ByteBuffer from) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    public static void fuzzerTestOneInput(byte[] input) {
        try (MessageChannel channel = new MessageChannel(new Input(input))) {
            while (true) {
                channel.read().toString(); // as in errors
            }
        } catch (EOFException e) {
            // the end of the input
        } catch (IOException e) {
            // as promised
        }
    }
}
