package org.udckpt.process.kinds.socket;

import static org.udckpt.linux.LinuxConstants.SO_BINDTODEVICE;
import static org.udckpt.linux.LinuxConstants.SO_RCVBUF;
import static org.udckpt.linux.LinuxConstants.SO_SNDBUF;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PacketCalls;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.kinds.base.NamedProcess;
import org.udckpt.process.model.BindOptions;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.SocketLevel;
import org.udckpt.process.model.TcpOptions;

/** Makes sockets without connections in this process. */
public final class PacketSetup {
    private PacketSetup() {}

    /** The sockets of an image that are of one kind. */
    public static <T extends PacketSocket> List<T> of(JobImage image, Class<T> kind) {
        return image.packetSockets().stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    /** SO_BINDTODEVICE; empty: to none. */
    public static void device(int fd, String device) {
        if (!device.isEmpty()) {
            TcpCalls.option(fd, TcpOptions.SOL_SOCKET, SO_BINDTODEVICE, device.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** A new socket, added to {@code made}, with the options that it had when it was bound. */
    public static int open(PacketSocket socket, int domain, int type, int protocol, MadeSockets made) {
        int fd = PacketCalls.open(domain, type, protocol);
        made.add(socket.id(), fd);
        options(socket, fd, false);
        if (socket.sendBuffer() > 0) {
            // the kernel doubles what it is given (socket(7))
            TcpCalls.option(fd, TcpOptions.SOL_SOCKET, SO_SNDBUF, socket.sendBuffer() / 2);
        }
        if (socket.receiveBuffer() > 0) {
            TcpCalls.option(fd, TcpOptions.SOL_SOCKET, SO_RCVBUF, socket.receiveBuffer() / 2);
        }
        SocketTimeouts.set(fd, SocketTimeouts.SO_RCVTIMEO, socket.receiveTimeoutUs());
        SocketTimeouts.set(fd, SocketTimeouts.SO_SNDTIMEO, socket.sendTimeoutUs());
        return fd;
    }

    /** @param later true: the options that may be set only once all sockets are bound; false: the others */
    public static void options(PacketSocket socket, int fd, boolean later) {
        int[] options = socket.options();
        for (int i = 0; i < options.length; i += 3) {
            if (SocketLevel.settable(options, i) && BindOptions.later(options, i) == later) {
                TcpCalls.option(fd, options[i], options[i + 1], SocketLevel.argument(options, i));
            }
        }
    }

    /**
     * bind(2).
     *
     * @param owner of the socket, for errors, in which it is called {@code name}
     * @param taken what is said where the address is in use
     */
    public static void bind(
            int fd, byte[] address, NamedProcess owner, String name, java.util.function.Supplier<String> taken) {
        long result = TcpCalls.bind(fd, address);
        if (result == -LinuxError.EADDRINUSE) {
            throw owner.inUse(name + ": its port " + taken.get());
        }
        if (result == -LinuxError.EADDRNOTAVAIL) {
            throw owner.unsupported(name + ": this machine does not have that address; restart on a machine that has "
                    + "it");
        }
        LinuxError.check(result, "bind");
    }

    /** Runs a step of making a socket; a kernel error is reported with the socket's name. */
    public static void named(NamedProcess owner, String name, Runnable step) {
        try {
            step.run();
        } catch (LinuxError e) {
            throw owner.failed(name + ": " + e.getMessage());
        }
    }
}
