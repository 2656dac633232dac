package org.udckpt.support.runtime;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.Charset;

/** Lines from a socket, none longer than a limit: the other side cannot make the agent take memory without end. */
public final class LineReader {
    /** The other side sent more bytes than any line may have; what follows cannot be understood. */
    public static final class TooLong extends IOException {
        private static final long serialVersionUID = 1L;

        private TooLong(int limit) {
            super("a line longer than " + limit + " bytes");
        }
    }

    private final InputStream input;
    private final Charset charset;
    private final int limit;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    /** @param limit in bytes, without the line's end */
    public LineReader(SocketChannel channel, Charset charset, int limit) {
        this.input = new BufferedInputStream(Channels.newInputStream(channel));
        this.charset = charset;
        this.limit = limit;
    }

    /** Whether bytes behind the last line have come already: the other side has said more. */
    public boolean hasMore() throws IOException {
        return input.available() > 0;
    }

    /**
     * The next line without its end; null at the end of the connection. An unfinished last line is a line, as with
     * {@link java.io.BufferedReader}.
     */
    public String readLine() throws IOException {
        line.reset();
        for (int next = input.read(); next != '\n'; next = input.read()) {
            if (next < 0) {
                return line.size() == 0 ? null : line.toString(charset);
            }
            if (line.size() == limit) {
                throw new TooLong(limit);
            }
            line.write(next);
        }
        return line.toString(charset);
    }
}
