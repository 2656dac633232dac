package org.udckpt.cluster;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.image.ImageError;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.PartReport;

/** The bytes of {@link ControlMessage}s. */
final class ControlMessageCodec {
    private ControlMessageCodec() {}

    /** {@code u8 kind}, then what the kind says. */
    static byte[] encode(ControlMessage message) {
        return switch (message) {
            case ControlMessage.Report report -> bytes(1, report.part().encode());
            case ControlMessage.Ends ends -> bytes(2,
                    ByteBuffer.allocate(4 + ends.why().getBytes(StandardCharsets.UTF_8).length)
                            .putInt(ends.code().orElse(-1)).put(ends.why().getBytes(StandardCharsets.UTF_8)).array());
            case ControlMessage.Ended ended -> bytes(3, ByteBuffer.allocate(4).putInt(ended.code()).array());
            case ControlMessage.Signal signal -> bytes(4, ByteBuffer.allocate(4).putInt(signal.number()).array());
            case ControlMessage.Begun begun -> bytes(5, new byte[]{(byte) (begun.all() ? 1 : 0)});
            case ControlMessage.Revived unit -> bytes(6, unit.phases().getBytes(StandardCharsets.UTF_8));
            case ControlMessage.Copy copy -> bytes(7, ByteBuffer
                    .allocate(Integer.BYTES + room(copy.parts()) + copy.copy().getBytes(StandardCharsets.UTF_8).length)
                    .putInt(copy.round())
                    .put(text(copy.parts())).put(copy.copy().getBytes(StandardCharsets.UTF_8)).array());
            case ControlMessage.NoCopy copy -> bytes(8,
                    ByteBuffer.allocate(Integer.BYTES).putInt(copy.round()).array());
            case ControlMessage.Copied copied -> bytes(9,
                    ByteBuffer.allocate(Integer.BYTES + copied.failure().getBytes(StandardCharsets.UTF_8).length)
                            .putInt(copied.round())
                            .put(copied.failure().getBytes(StandardCharsets.UTF_8)).array());
            case ControlMessage.Stay stay -> {
                ByteBuffer to = ByteBuffer.allocate(room(stay.parts()) + Long.BYTES * (1 + stay.checkpoints().size()))
                        .put(text(stay.parts())).putLong(stay.newest());
                stay.checkpoints().stream().sorted().forEach(to::putLong);
                yield bytes(10, to.array());
            }
            case ControlMessage.Tell tell -> bytes(11,
                    ByteBuffer.allocate(2 * Integer.BYTES).putInt(tell.question()).putInt(tell.endpoints()).array());
        };
    }

    /** @throws MalformedMessage for bytes that {@link #encode} has not made */
    static ControlMessage decode(byte[] bytes) throws MalformedMessage {
        ByteBuffer from = ByteBuffer.wrap(bytes);
        try {
            byte kind = from.get();
            ControlMessage message = switch (kind) {
                case 1 -> new ControlMessage.Report(report(rest(from)));
                case 2 -> {
                    int code = from.getInt();
                    yield new ControlMessage.Ends(code < 0 ? OptionalInt.empty() : OptionalInt.of(code),
                            new String(rest(from), StandardCharsets.UTF_8));
                }
                case 3 -> new ControlMessage.Ended(from.getInt());
                case 4 -> new ControlMessage.Signal(from.getInt());
                case 5 -> new ControlMessage.Begun(truth(from.get()));
                case 6 -> new ControlMessage.Revived(new String(rest(from), StandardCharsets.UTF_8));
                case 7 -> new ControlMessage.Copy(from.getInt(), parts(from),
                        path(new String(rest(from), StandardCharsets.UTF_8)));
                case 8 -> new ControlMessage.NoCopy(from.getInt());
                case 9 -> new ControlMessage.Copied(from.getInt(), new String(rest(from), StandardCharsets.UTF_8));
                case 10 -> {
                    HostParts parts = parts(from);
                    long newest = from.getLong();
                    Set<Long> stay = new TreeSet<>();
                    while (from.remaining() >= Long.BYTES) {
                        stay.add(from.getLong());
                    }
                    yield new ControlMessage.Stay(parts, newest, stay);
                }
                case 11 -> tell(from.getInt(), from.getInt());
                default -> throw new MalformedMessage("a message of kind " + kind);
            };
            if (from.hasRemaining()) {
                throw new MalformedMessage("a message of kind " + kind + " has " + from.remaining() + " excess bytes");
            }
            return message;
        } catch (BufferUnderflowException e) {
            throw new MalformedMessage("a message of " + bytes.length + " bytes is truncated", e);
        }
    }

    private static ControlMessage.Tell tell(int question, int endpoints) throws MalformedMessage {
        if (question < 1 || endpoints < 0) {
            throw new MalformedMessage("a message asks question " + question + " for " + endpoints + " endpoints");
        }
        return new ControlMessage.Tell(question, endpoints);
    }

    private static boolean truth(byte value) throws MalformedMessage {
        if (value != 0 && value != 1) {
            throw new MalformedMessage("a message has a boolean that is neither 0 nor 1: " + value);
        }
        return value == 1;
    }

    private static int room(HostParts parts) {
        return Short.BYTES + parts.directory().toString().getBytes(StandardCharsets.UTF_8).length;
    }

    /** {@code u16 length}, then as many bytes. */
    private static byte[] text(HostParts parts) {
        byte[] path = parts.directory().toString().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(room(parts)).putShort((short) path.length).put(path).array();
    }

    private static HostParts parts(ByteBuffer from) throws MalformedMessage {
        byte[] path = new byte[Short.toUnsignedInt(from.getShort())];
        from.get(path);
        try {
            return new HostParts(Path.of(path(new String(path, StandardCharsets.UTF_8))));
        } catch (IllegalArgumentException e) {
            throw new MalformedMessage(e.getMessage(), e);
        }
    }

    private static String path(String text) throws MalformedMessage {
        try {
            if (text.startsWith("/") && Path.of(text).normalize().toString().equals(text)) {
                return text;
            }
        } catch (InvalidPathException e) {
            throw new MalformedMessage("a message names '" + text + "': " + e.getMessage(), e);
        }
        throw new MalformedMessage("a message names '" + text + "', which is not a normalized path");
    }

    private static PartReport report(byte[] bytes) throws MalformedMessage {
        try {
            return PartReport.decode(bytes);
        } catch (ImageError e) {
            throw new MalformedMessage(e.getMessage(), e);
        }
    }

    private static byte[] rest(ByteBuffer from) {
        byte[] rest = new byte[from.remaining()];
        from.get(rest);
        return rest;
    }

    private static byte[] bytes(int kind, byte[] rest) {
        return ByteBuffer.allocate(1 + rest.length).put((byte) kind).put(rest).array();
    }
}
