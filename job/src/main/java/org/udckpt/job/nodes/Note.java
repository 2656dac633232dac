package org.udckpt.job.nodes;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import org.udckpt.image.ImageError;
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

    /** Its bytes: {@code u8 kind}, then what the kind says. */
    default byte[] encode() {
        return switch (this) {
            case Report report -> bytes(1, report.part.encode());
            case Ends ends -> bytes(2, ByteBuffer.allocate(4 + ends.why.getBytes(StandardCharsets.UTF_8).length).putInt(ends.code.orElse(-1)).put(ends.why.getBytes(StandardCharsets.UTF_8)).array());
            case Ended ended -> bytes(3, ByteBuffer.allocate(4).putInt(ended.code).array());
            case Signal signal -> bytes(4, ByteBuffer.allocate(4).putInt(signal.number).array());
            case Begun begun -> bytes(5, new byte[] {(byte) (begun.all ? 1 : 0)});
            case Revived unit -> bytes(6, unit.phases.getBytes(StandardCharsets.UTF_8));
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

    private static boolean truth(byte value) throws MalformedMessage {
        if (value != 0 && value != 1) {
            throw new MalformedMessage("a note says neither yes nor no: " + value);
        }
        return value == 1;
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
