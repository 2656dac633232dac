package org.udckpt.process.kinds.binaryoption;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.AF_INET;
import static org.udckpt.linux.LinuxConstants.AF_INET6;
import static org.udckpt.linux.LinuxConstants.SOCK_RAW;

import java.lang.foreign.MemorySegment;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketType;
import org.udckpt.process.model.TcpOptions;

/** Reads the binary options of each socket of the internet, whatever kind took it. */
final class BinaryOptionCapture implements SocketCapture {
    private static final int IPPROTO_ICMPV6 = 58;
    /** {level, name} (ip(7), RFC 3542). */
    private static final int[][] IP = {{TcpOptions.SOL_IP, 4 /* IP_OPTIONS */}};
    private static final int[][] IPV6 = {
            {TcpOptions.SOL_IP, 4}, {TcpOptions.SOL_IPV6, 54 /* IPV6_HOPOPTS */},
            {TcpOptions.SOL_IPV6, 55 /* IPV6_RTHDRDSTOPTS */}, {TcpOptions.SOL_IPV6, 57 /* IPV6_RTHDR */},
            {TcpOptions.SOL_IPV6, 59 /* IPV6_DSTOPTS */},
    };

    private static final int[][] ICMPV6 = {{IPPROTO_ICMPV6, 1 /* ICMPV6_FILTER */}};

    private final CaptureScope scope;

    BinaryOptionCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public void beside(OpenDescriptor open, int socket, SocketType type, long object) {
        switch (type.domain()) {
            case AF_INET -> read(open, socket, object, IP);
            case AF_INET6 -> read(open, socket, object, IPV6);
            default -> {
            }
        }
        if (type.equals(new SocketType(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6))) {
            read(open, socket, object, ICMPV6);
        }
    }

    private void read(OpenDescriptor open, int socket, long object, int[][] options) {
        for (int[] option : options) {
            byte[] value = value(socket, option[0], option[1]);
            if (value.length > 0) {
                refuseInFlight(open);
                scope.table().add(new BinaryOption(scope.table().newId(), object, option[0], option[1], value));
            }
        }
    }

    private static void refuseInFlight(OpenDescriptor open) {
        if (open.process().inFlight()) {
            throw open.refuse("this socket has options for the headers of what it sends (IP_OPTIONS, IPV6_HOPOPTS) and "
                    + "is open in no process, which cannot be checkpointed; keep it open in one, too");
        }
    }

    /** Empty: it is not set, or this socket has no such option. */
    private static byte[] value(int socket, int level, int name) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, BinaryOption.MOST, BinaryOption.MOST);
        long result = Syscall.call(Syscall.GETSOCKOPT, socket, level, name, data.address(),
                data.address() + BinaryOption.MOST);
        if (result == -LinuxError.ENOPROTOOPT || result == -LinuxError.EOPNOTSUPP) {
            return new byte[0];
        }
        LinuxError.check(result, "socket option " + name + " of level " + level);
        return data.asSlice(0, data.get(JAVA_INT, BinaryOption.MOST)).toArray(JAVA_BYTE);
    }
}
