package org.udckpt.ud;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ByteChannel;
import org.udckpt.layout.Layout;
import org.udckpt.layout.Layout.MessageHeader;

/** Whole messages over a stream socket. One reader at a time; any number of writers. */
final class MessageChannel implements AutoCloseable {
    private final ByteChannel channel;

    MessageChannel(ByteChannel channel) {
        this.channel = channel;
    }

    /** Blocks until the next message. @throws EOFException when the other side has closed between messages */
    Message read() throws IOException {
        ByteBuffer header = fill(ByteBuffer.allocate(MessageHeader.SIZE)).order(ByteOrder.LITTLE_ENDIAN);
        int length = header.getInt(MessageHeader.LENGTH);
        if (length < MessageHeader.SIZE || length > Layout.MESSAGE_MAX) {
            throw new IOException(
                    "message of type " + header.getInt(MessageHeader.TYPE) + " claims " + length + " bytes");
        }
        ByteBuffer whole = ByteBuffer.allocate(length).put(header.clear());
        return MessageCodec.decode(fill(whole).clear());
    }

    synchronized void write(Message message) throws IOException {
        ByteBuffer bytes = MessageCodec.encode(message).clear();
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private ByteBuffer fill(ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException("connection closed");
            }
        }
        return buffer.flip();
    }
}
