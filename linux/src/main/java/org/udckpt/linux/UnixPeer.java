package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_PEERCRED;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/**
 * Connections over unix sockets, both ways, with nobody but this user and root: the kernel tells who called connect(2)
 * or listen(2) at the other end (SO_PEERCRED, unix(7)). All of udckpt's are made here, so that none goes without. (A
 * process that becomes somebody else later keeps its connection; one that has become somebody else gets none, as it
 * gets into no directory of the job.)
 */
public final class UnixPeer {
    private static final int UCRED_BYTES = 12, ROOT = 0;
    private static final Set<PosixFilePermission> OWNER_ONLY =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    private static final Method DESCRIPTOR = descriptor();

    /** The other end is somebody else's. */
    public static final class Stranger extends IOException {
        private static final long serialVersionUID = 1L;

        private Stranger(String what, int user) {
            super(what + " belongs to user " + user + ", not to " + User.id() + " or root");
        }
    }

    private UnixPeer() {}

    /** Listens at a path, to which nobody else can connect whatever the umask is. */
    public static ServerSocketChannel listen(Path socket, int backlog) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            server.bind(UnixDomainSocketAddress.of(socket), backlog);
            Files.setPosixFilePermissions(socket, OWNER_ONLY);
            return server;
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /**
     * The next connection.
     *
     * @throws Stranger of somebody else, who is hung up on: the next one may be right
     */
    public static SocketChannel accept(ServerSocketChannel server) throws IOException {
        SocketChannel channel = server.accept();
        try {
            return checked(channel, "a connection to " + server.getLocalAddress());
        } catch (IOException | RuntimeException e) {
            // also: the server was closed at this moment, and a client that has connected must not wait for ever
            channel.close();
            throw e;
        }
    }

    /** @throws Stranger who listens there is somebody else */
    public static SocketChannel connect(Path socket) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
        return checked(channel, "the socket " + socket);
    }

    private static SocketChannel checked(SocketChannel channel, String what) throws IOException {
        try {
            int user = user(channel);
            if (user != ROOT && user != User.id()) {
                throw new Stranger(what, user);
            }
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** The process at the other end of a socket when it was connected, as this process numbers it. */
    public static int process(Channel channel) throws IOException {
        return credential(channel, 0);
    }

    /** The user at the other end of a socket when it was connected. */
    static int user(Channel channel) throws IOException {
        return credential(channel, 4);
    }

    /** @param place in struct ucred: pid, uid, gid */
    private static int credential(Channel channel, int place) throws IOException {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 32, UCRED_BYTES);
        try {
            LinuxError.check(Syscall.call(Syscall.GETSOCKOPT, (int) DESCRIPTOR.invoke(channel), SOL_SOCKET, SO_PEERCRED,
                    data.address(), data.address() + 32), "SO_PEERCRED");
        } catch (LinuxError | ReflectiveOperationException e) {
            throw new IOException("cannot identify the peer of a unix socket: " + e.getMessage(), e);
        }
        return data.get(JAVA_INT, place);
    }

    /**
     * The JDK's own SO_PEERCRED (jdk.net) gives names, which two users may have in common and a directory service may
     * take long to tell.
     */
    private static Method descriptor() {
        try {
            return Class.forName("sun.nio.ch.SelChImpl").getMethod("getFDVal");
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e); // this JDK is not the one that was tested
        }
    }
}
