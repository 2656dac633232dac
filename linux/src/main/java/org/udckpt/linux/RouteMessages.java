package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.AF_NETLINK;
import static org.udckpt.linux.LinuxConstants.SOCK_RAW;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_RCVTIMEO;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Asks the kernel about devices, addresses, routes and rules of the network namespace of {@link NetworkCalls#in}, and
 * sets them (netlink(7), rtnetlink(7)).
 */
public final class RouteMessages implements AutoCloseable {
    public static final int NETLINK_ROUTE = 0, NETLINK_NETFILTER = 12;
    private static final int NLMSG_ERROR = 2, NLMSG_DONE = 3, HEADER = 16, ATTRIBUTE = 4, TYPE_BITS = 0x3fff;
    private static final int NLM_F_REQUEST = 1, NLM_F_ACK = 4, NLM_F_DUMP = 0x300;

    private final int fd;

    /** @param family of netlink(7). @throws LinuxError EPROTONOSUPPORT: this kernel has none */
    public RouteMessages(int family) {
        fd = (int) LinuxError.check(NetworkCalls.socket(AF_NETLINK, SOCK_RAW | Syscall.O_CLOEXEC, family),
                "socket of netlink family " + family);
    }

    /** Bodies of the messages that a dump consists of; none where this kernel has no such thing. */
    public List<byte[]> dump(int type, byte[] question) {
        send(type, NLM_F_REQUEST | NLM_F_DUMP, question);
        List<byte[]> all = new ArrayList<>();
        try {
            while (answer(all)) {
                continue;
            }
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.EOPNOTSUPP) {
                throw e;
            }
        }
        return all;
    }

    /** The body of the one message that answers. @throws LinuxError it is an error, or none comes within a second */
    public byte[] ask(int type) {
        MemorySegment second = Scratch.data();
        second.set(JAVA_LONG, 0, 1);
        second.set(JAVA_LONG, 8, 0);
        LinuxError.check(Syscall.call(Syscall.SETSOCKOPT, fd, SOL_SOCKET, SO_RCVTIMEO, second.address(), 16),
                "time limit of a question to netlink");
        send(type, NLM_F_REQUEST, new byte[0]);
        List<byte[]> all = new ArrayList<>();
        while (all.isEmpty() && answer(all)) {
            continue;
        }
        return all.isEmpty() ? new byte[0] : all.getFirst();
    }

    /** Asks for a change. @param flags beside those of each request. @throws LinuxError it cannot be made */
    public void change(int type, int flags, byte[] body) {
        send(type, NLM_F_REQUEST | NLM_F_ACK | flags, body);
        answer(new ArrayList<>());
    }

    private void send(int type, int flags, byte[] body) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, HEADER + body.length);
        data.set(JAVA_SHORT, 4, (short) type);
        data.set(JAVA_SHORT, 6, (short) flags);
        data.set(JAVA_INT, 8, 0);
        data.set(JAVA_INT, 12, 0);
        MemorySegment.copy(body, 0, data, JAVA_BYTE, HEADER, body.length);
        LinuxError.check(Syscall.call(Syscall.SENDTO, fd, data.address(), HEADER + body.length, 0, 0, 0),
                "question to netlink");
    }

    /** Whether more comes. */
    private boolean answer(List<byte[]> all) {
        MemorySegment data = Scratch.data();
        long n = LinuxError.check(Syscall.call(Syscall.RECVFROM, fd, data.address(), Scratch.DATA_BYTES, 0, 0, 0),
                "answer of netlink");
        for (long at = 0; at + HEADER <= n;) {
            int length = data.get(JAVA_INT, at);
            int type = Short.toUnsignedInt(data.get(JAVA_SHORT, at + 4));
            if (type == NLMSG_ERROR) {
                LinuxError.check(data.get(JAVA_INT, at + HEADER), "request of netlink");
                return false;
            }
            if (type == NLMSG_DONE) {
                return false;
            }
            all.add(data.asSlice(at + HEADER, length - HEADER).toArray(JAVA_BYTE));
            at += length + 3 & -4;
        }
        return true;
    }

    /** A message's bytes in this machine's order. */
    public static ByteBuffer buffer(byte[] message) {
        return ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The attributes behind a structure of so many bytes: values by number. */
    public static Map<Integer, byte[]> attributes(byte[] message, int structure) {
        Map<Integer, byte[]> attributes = new TreeMap<>();
        ByteBuffer buffer = buffer(message);
        for (int at = structure; at + ATTRIBUTE <= message.length;) {
            int length = Short.toUnsignedInt(buffer.getShort(at));
            if (length < ATTRIBUTE || at + length > message.length) {
                throw new IllegalArgumentException("an attribute of " + length + " bytes at " + at);
            }
            attributes.put(buffer.getShort(at + 2) & TYPE_BITS, Arrays.copyOfRange(message, at + ATTRIBUTE,
                    at + length));
            at += length + 3 & -4;
        }
        return attributes;
    }

    /** A message of a structure and attributes. */
    public static byte[] message(byte[] structure, Map<Integer, byte[]> attributes) {
        int length = structure.length + attributes.values().stream()
                .mapToInt(value -> ATTRIBUTE + value.length + 3 & -4).sum();
        ByteBuffer buffer = buffer(new byte[length]).put(structure);
        attributes.forEach((number, value) -> {
            buffer.putShort((short) (ATTRIBUTE + value.length)).putShort(number.shortValue()).put(value);
            buffer.position(buffer.position() + 3 & -4);
        });
        return buffer.array();
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
