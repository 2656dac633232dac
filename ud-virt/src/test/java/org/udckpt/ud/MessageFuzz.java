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

    /** Reads the input; what is written is lost. */
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
            int count = from.remaining();
            from.position(from.limit());
            return count;
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
                Message message = channel.read();
                channel.write(message); // what can be read can be written
            }
        } catch (EOFException e) {
            // the end of the input
        } catch (IOException e) {
            // as promised
        }
    }
}
