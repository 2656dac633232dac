package org.udckpt.job.nodes;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.udckpt.image.ImageError;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.job.tree.MalformedMessage;

/** What nodes tell each other beside the coordinator's calls ({@link org.udckpt.job.exchange.News}). */
public sealed interface Note {
    /** To the lead: the unit's part of a checkpoint is durable. */
    record Report(PartReport part) implements Note {}

    /**
     * To the lead: the unit's ranks end the job.
     *
     * @param code of the whole job, if it is decided
     * @param why  in words for people
     */
    record Ends(OptionalInt code, String why) implements Note {}

    /** To the lead: all of the unit's ranks have ended. @param code their part of the job's */
    record Ended(int code) implements Note {}

    /** To the lead: a restarted unit's processes are there. @param phases what the time went into, for people */
    record Revived(String phases) implements Note {}

    /** To all: the ranks are to get this signal, of signal(7). */
    record Signal(int number) implements Note {}

    /**
     * To all: the steps of a restart are over, and the job's files stay as they were put back, or not.
     *
     * @param all whether all ranks of the job run, or have run to their end
     */
    record Begun(boolean all) implements Note {}

    /**
     * To all: copy your part of a checkpoint, which only your host has, to where the whole is to be.
     *
     * @param round of copies, from 1: what comes of it is told with the same
     * @param parts where it is
     * @param copy  the checkpoint's copy, absolute; the lead has begun it
     */
    record Copy(int round, HostParts parts, String copy) implements Note {}

    /** To all: end that round's copies, which are of no use any more. */
    record NoCopy(int round) implements Note {}

    /** To the lead: the unit has ended with a round's copy. @param failure what went wrong, "" when it is there */
    record Copied(int round, String failure) implements Note {}

    /** To all: remove your host's parts of checkpoints until {@code newest} but for these. */
    record Stay(HostParts parts, long newest, Set<Long> checkpoints) implements Note {}

    /**
     * To all: tell the lead of your ranks, by tables (docs/reference/transport.md, "Messages of the tree").
     *
     * @param question  from 1: the answer says which one it is to
     * @param endpoints at most so many of each unit
     */
    record Tell(int question, int endpoints) implements Note {}

    /** Its bytes: {@code u8 kind}, then what the kind says. */
    default byte[] encode() {
        return switch (this) {
            case Report report -> bytes(1, report.part.encode());
            case Ends ends -> bytes(2, ByteBuffer.allocate(4 + ends.why.getBytes(StandardCharsets.UTF_8).length).putInt(ends.code.orElse(-1)).put(ends.why.getBytes(StandardCharsets.UTF_8)).array());
            case Ended ended -> bytes(3, ByteBuffer.allocate(4).putInt(ended.code).array());
            case Signal signal -> bytes(4, ByteBuffer.allocate(4).putInt(signal.number).array());
            case Begun begun -> bytes(5, new byte[] {(byte) (begun.all ? 1 : 0)});
            case Revived unit -> bytes(6, unit.phases.getBytes(StandardCharsets.UTF_8));
            case Copy copy -> bytes(7, ByteBuffer.allocate(Integer.BYTES + room(copy.parts) + copy.copy.getBytes(StandardCharsets.UTF_8).length).putInt(copy.round)
                    .put(text(copy.parts)).put(copy.copy.getBytes(StandardCharsets.UTF_8)).array());
            case NoCopy copy -> bytes(8, ByteBuffer.allocate(Integer.BYTES).putInt(copy.round).array());
            case Copied copied -> bytes(9, ByteBuffer.allocate(Integer.BYTES + copied.failure.getBytes(StandardCharsets.UTF_8).length).putInt(copied.round)
                    .put(copied.failure.getBytes(StandardCharsets.UTF_8)).array());
            case Stay stay -> {
                ByteBuffer to = ByteBuffer.allocate(room(stay.parts) + Long.BYTES * (1 + stay.checkpoints.size())).put(text(stay.parts)).putLong(stay.newest);
                stay.checkpoints.stream().sorted().forEach(to::putLong);
                yield bytes(10, to.array());
            }
            case Tell tell -> bytes(11, ByteBuffer.allocate(2 * Integer.BYTES).putInt(tell.question).putInt(tell.endpoints).array());
        };
    }

    /** @throws MalformedMessage for bytes that {@link #encode} has not made */
    static Note decode(byte[] bytes) throws MalformedMessage {
        ByteBuffer from = ByteBuffer.wrap(bytes);
        try {
            byte kind = from.get();
            Note note = switch (kind) {
                case 1 -> new Report(report(rest(from)));
                case 2 -> {
                    int code = from.getInt();
                    yield new Ends(code < 0 ? OptionalInt.empty() : OptionalInt.of(code), new String(rest(from), StandardCharsets.UTF_8));
                }
                case 3 -> new Ended(from.getInt());
                case 4 -> new Signal(from.getInt());
                case 5 -> new Begun(truth(from.get()));
                case 6 -> new Revived(new String(rest(from), StandardCharsets.UTF_8));
                case 7 -> new Copy(from.getInt(), parts(from), path(new String(rest(from), StandardCharsets.UTF_8)));
                case 8 -> new NoCopy(from.getInt());
                case 9 -> new Copied(from.getInt(), new String(rest(from), StandardCharsets.UTF_8));
                case 10 -> {
                    HostParts parts = parts(from);
                    long newest = from.getLong();
                    Set<Long> stay = new TreeSet<>();
                    while (from.remaining() >= Long.BYTES) {
                        stay.add(from.getLong());
                    }
                    yield new Stay(parts, newest, stay);
                }
                case 11 -> tell(from.getInt(), from.getInt());
                default -> throw new MalformedMessage("a note of kind " + kind);
            };
            if (from.hasRemaining()) {
                throw new MalformedMessage("a note of kind " + kind + " has " + from.remaining() + " bytes too many");
            }
            return note;
        } catch (BufferUnderflowException e) {
            throw new MalformedMessage("a note of " + bytes.length + " bytes breaks off", e);
        }
    }

    private static Tell tell(int question, int endpoints) throws MalformedMessage {
        if (question < 1 || endpoints < 0) {
            throw new MalformedMessage("a note asks question " + question + " for " + endpoints + " endpoints");
        }
        return new Tell(question, endpoints);
    }

    private static boolean truth(byte value) throws MalformedMessage {
        if (value != 0 && value != 1) {
            throw new MalformedMessage("a note says neither yes nor no: " + value);
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
            throw new MalformedMessage("a note names '" + text + "': " + e.getMessage(), e);
        }
        throw new MalformedMessage("a note names '" + text + "', which is no plain path");
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
