package org.udckpt.process.kinds.unix;

import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;

import java.util.function.UnaryOperator;
import org.udckpt.linux.RawText;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.names.AbstractNames;
import org.udckpt.process.names.NewName;

/** Unix sockets (unix(7)): peers, names, what is queued. */
public final class UnixSocketKind implements DescriptorKind<UnixSocket> {
    static final int SUN_PATH = 108;
    private static final int ANYBODY = 0777, OWNERS = 0600, NOT_KNOWN = -1;

    @Override
    public Class<UnixSocket> record() {
        return UnixSocket.class;
    }

    @Override
    public String shown(UnixSocket socket) {
        return (socket.state() + " " + RawText.decode(socket.name()).replace('\0', '@')).strip();
    }

    @Override
    public UnixSocket moved(UnixSocket socket, UnaryOperator<String> moves) {
        return new UnixSocket(socket.id(), socket.flags(), socket.type(), socket.state(), socket.peer(),
                socket.queued(), socket.messageLengths(), moved(socket.name(), moves), socket.backlog(),
                socket.sendBuffer(), socket.receiveBuffer(), socket.shutdown(), socket.receiveTimeoutUs(),
                socket.sendTimeoutUs(), socket.passCredentials());
    }

    /** A name that is a path; others are no files'. */
    static byte[] moved(byte[] name, UnaryOperator<String> moves) {
        return name.length > 1 && name[0] == '/'
                ? RawText.encode(moves.apply(RawText.decode(name)))
                : name;
    }

    @Override
    public NewName name(UnixSocket socket, JobName former, ProcessState user) {
        if (socket.name().length == 0 || socket.name()[0] == 0) {
            return null;
        }
        if (former instanceof JobName.SocketFile file) {
            return file.path().isEmpty()
                    ? null
                    : new NewName(NewName.Kind.SOCKET, file.path(), file.mode(), file.uid(), file.gid());
        }
        // An image from before names were recorded: what bind(2) would do.
        String name = RawText.decode(socket.name());
        String path = name.startsWith("/") || user == null ? name : user.workingDirectory() + "/" + name;
        return new NewName(
                NewName.Kind.SOCKET, path, user == null ? OWNERS : ANYBODY & ~user.umask(), NOT_KNOWN, NOT_KNOWN);
    }

    @Override
    public void checkFree(UnixSocket socket) {
        if (socket.name().length > 0 && socket.name()[0] == 0) {
            AbstractNames.check(socket.name());
        }
    }

    @Override
    public void check(UnixSocket socket, RowCheck row, CheckedImage image) throws BrokenTable {
        row.notNull("state", socket.state());
        row.require(socket.peer() == 0 || image.is(socket.peer(), UnixSocket.class),
                "peer %d is not the id of a unix socket", socket.peer());
        if ((socket.peer() != 0) != (socket.state() == SocketState.CONNECTED)) {
            throw row.broken("peer " + socket.peer() + " does not match state " + socket.state());
        }
        row.require(socket.peer() == 0 || socket.type() == SOCK_DGRAM
                || image.get(socket.peer()) instanceof UnixSocket peer && peer.peer() == socket.id(),
                "peer %d is not connected back to socket %d", socket.peer(), socket.id());
        row.bytes("name", socket.name(), 0, SUN_PATH, 1);
        row.notNull("queued", socket.queued());
        row.notNull("messageLengths", socket.messageLengths());
        row.require(socket.state() != SocketState.WAITING || image.image().objects().stream()
                .anyMatch(one -> one instanceof WaitingConnection waiting && waiting.client() == socket.id()),
                "socket %d in state WAITING waits for no listener", socket.id());
        if (socket.type() != SOCK_STREAM || socket.messageLengths().length > 0) {
            row.messages("messageLengths", socket.messageLengths(), socket.queued().length);
        }
        if (socket.type() == SOCK_STREAM) { // where there is no empty piece, with or without descriptors
            for (int length : socket.messageLengths()) {
                row.between(1, Integer.MAX_VALUE, "messageLengths", length);
            }
        }
        row.notNegative("receiveTimeoutUs", socket.receiveTimeoutUs());
        row.notNegative("sendTimeoutUs", socket.sendTimeoutUs());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new UnixCapture(scope);
    }

    @Override
    public KindRestore<UnixSocket> restore(RestoreScope scope) {
        return new UnixRestore(scope);
    }
}
