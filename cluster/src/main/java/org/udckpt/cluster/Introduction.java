package org.udckpt.cluster;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.coordination.tree.MalformedMessage;

/**
 * How nodes find each other, and part: messages between an agent and the lead besides the tree's.
 * {@code u8 2, u8 kind}, then what the kind says, big-endian; an address is {@code u8 length, bytes, u16 port}. The
 * first byte is the tree's version in messages of the tree (1).
 */
sealed interface Introduction {
    /** The first byte. */
    byte MARK = 2;
    /** Most bytes of addresses in a message: well below the longest message. */
    int MOST_OF_ONE = 16_384;
    int MOST_TEXT = 255;

    /**
     * An agent is there: {@code i32 version, i64 pid, address, u8 length, host}. Said again until it hears the roster.
     *
     * @param version {@link SpecificationText#VERSION} of its udckpt
     * @param pid     of its process
     * @param address where the others reach it
     * @param host    as it calls itself
     */
    record Hello(int version, long pid, InetSocketAddress address, String host) implements Introduction {}

    /**
     * Where others are: {@code i32 all, (i32 node, address)*}.
     *
     * @param all   how many the receiver will hear of, in this message and others
     * @param nodes some of them
     */
    record Roster(int all, Map<Integer, InetSocketAddress> nodes) implements Introduction {}

    /**
     * The job is over, or was never begun: the agent ends. {@code u8 length, reason}
     *
     * @param reason not to be; empty: it is over
     */
    record Farewell(String reason) implements Introduction {}

    static boolean isOne(byte[] message) {
        return message.length > 0 && message[0] == MARK;
    }

    default byte[] encode() {
        ByteBuffer to = ByteBuffer.allocate(switch (this) {
            case Roster roster -> 6 + roster.nodes().size() * 23;
            case Hello hello -> 64 + MOST_TEXT;
            case Farewell farewell -> 3 + MOST_TEXT;
        });
        switch (this) {
            case Hello(int version, long pid, InetSocketAddress address, String host) -> {
                to.put(MARK).put((byte) 0).putInt(version).putLong(pid);
                put(to, address);
                put(to, host);
            }
            case Roster(int all, Map<Integer, InetSocketAddress> nodes) -> {
                to.put(MARK).put((byte) 1).putInt(all);
                nodes.forEach((node, address) -> put(to.putInt(node), address));
            }
            case Farewell(String reason) -> put(to.put(MARK).put((byte) 2), reason);
        }
        byte[] message = new byte[to.flip().remaining()];
        to.get(message);
        return message;
    }

    static Introduction decode(byte[] message) throws MalformedMessage {
        ByteBuffer from = ByteBuffer.wrap(message);
        try {
            from.get();
            byte kind = from.get();
            Introduction read = switch (kind) {
                case 0 -> new Hello(from.getInt(), from.getLong(), address(from), text(from));
                case 1 -> roster(from);
                case 2 -> new Farewell(text(from));
                default -> throw new MalformedMessage("an introduction of kind " + kind);
            };
            if (from.hasRemaining()) {
                throw new MalformedMessage("an introduction of kind " + kind + " with " + from.remaining()
                        + " excess bytes");
            }
            return read;
        } catch (BufferUnderflowException e) {
            throw new MalformedMessage("an introduction of " + message.length + " bytes", e);
        }
    }

    private static Roster roster(ByteBuffer from) throws MalformedMessage {
        int all = from.getInt();
        Map<Integer, InetSocketAddress> nodes = new LinkedHashMap<>();
        while (from.hasRemaining()) {
            nodes.put(from.getInt(), address(from));
        }
        return new Roster(all, nodes);
    }

    private static void put(ByteBuffer to, InetSocketAddress address) {
        byte[] bytes = address.getAddress().getAddress();
        to.put((byte) bytes.length).put(bytes).putShort((short) address.getPort());
    }

    private static InetSocketAddress address(ByteBuffer from) throws MalformedMessage {
        byte[] bytes = new byte[Byte.toUnsignedInt(from.get())];
        from.get(bytes);
        try {
            return new InetSocketAddress(InetAddress.getByAddress(bytes), Short.toUnsignedInt(from.getShort()));
        } catch (UnknownHostException e) {
            throw new MalformedMessage("an address of " + bytes.length + " bytes", e);
        }
    }

    private static void put(ByteBuffer to, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(MOST_TEXT, bytes.length);
        to.put((byte) length).put(bytes, 0, length);
    }

    private static String text(ByteBuffer from) {
        byte[] bytes = new byte[Byte.toUnsignedInt(from.get())];
        from.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
