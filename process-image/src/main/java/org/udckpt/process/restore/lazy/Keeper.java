package org.udckpt.process.restore.lazy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.SocketMessage;

/**
 * The agent's end of the shepherd's {@code lazy} socket (docs/reference/control-protocol.md). The shepherd holds every
 * context too, and ends the job when this end is closed before all are released: the kernel would fill what is missing
 * with zeros. It also reads the events, since the reader of a fork's gets the child's context. Any thread; one request
 * at a time.
 */
final class Keeper implements AutoCloseable {
    private static final int HOLD = 1, READ = 2, RELEASE = 3, ABANDON = 4;
    private static final String WHAT = "talk to the shepherd about missing memory";

    private final int socket;

    /** Takes over the descriptor. */
    Keeper(int socket) {
        this.socket = socket;
    }

    /** Returns the shepherd's key of the context. */
    synchronized int hold(Userfault context) {
        send(HOLD, 0, List.of(context.fd()));
        return (int) LinuxError.check(number(answer().bytes()), "hand a userfaultfd to the shepherd");
    }

    /** All events that wait. */
    synchronized List<UserfaultEvent> read(int key) {
        send(READ, key, List.of());
        SocketMessage answer = answer();
        if (answer.bytes().length % UserfaultEvent.BYTES == 0) {
            return UserfaultEvent.parse(answer.bytes(), answer.descriptors());
        }
        int error = number(answer.bytes());
        if (error != -LinuxError.EAGAIN) {
            throw new LinuxError("read a userfaultfd's events", -error);
        }
        return List.of();
    }

    /** Releases a space in which nothing is missing, or whose process has ended. */
    synchronized void release(int key) {
        send(RELEASE, key, List.of());
    }

    /** Its memory will never come: the shepherd ends the job at once, if it is there itself. */
    synchronized void abandon() {
        try {
            send(ABANDON, 0, List.of());
        } catch (LinuxError gone) {
            if (gone.errno() != LinuxError.EPIPE && gone.errno() != LinuxError.ECONNRESET) {
                throw gone;
            }
        }
    }

    private void send(int operation, int key, List<Integer> descriptors) {
        byte[] request = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(operation).putInt(key).array();
        SocketMessage.send(socket, request, descriptors, WHAT);
    }

    private SocketMessage answer() {
        SocketMessage answer = SocketMessage.receive(socket, WHAT);
        if (answer.bytes().length == 0) {
            throw new LinuxError(WHAT + ": it is gone", LinuxError.ESRCH);
        }
        return answer;
    }

    private static int number(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }

    @Override
    public void close() {
        Files.close(socket);
    }
}
