package org.udckpt.cluster;

import java.util.OptionalInt;
import java.util.Set;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.PartReport;

/**
 * What the lead and the units tell each other outside of the coordinator's calls
 * ({@link org.udckpt.coordination.lookup.ControlChannel}).
 */
public sealed interface ControlMessage {
    /** From a unit to the lead. */
    sealed interface ToLead extends ControlMessage {}

    /** From the lead to all units. */
    sealed interface ToUnits extends ControlMessage {}

    /** The unit's part of a checkpoint is durable. */
    record Report(PartReport part) implements ToLead {}

    /**
     * The unit's ranks end the job.
     *
     * @param code of the whole job, if it is decided
     * @param why  in words for people
     */
    record Ends(OptionalInt code, String why) implements ToLead {}

    /** All of the unit's ranks have ended. @param code their part of the job's */
    record Ended(int code) implements ToLead {}

    /** A restarted unit's processes are there. @param phases what the time went into, for people */
    record Revived(String phases) implements ToLead {}

    /** The unit has ended with a round's copy. @param failure what went wrong, "" when it is there */
    record Copied(int round, String failure) implements ToLead {}

    /** The ranks are to get this signal, of signal(7). */
    record Signal(int number) implements ToUnits {}

    /**
     * The steps of a restart are over, and the job's files stay as they were put back, or not.
     *
     * @param all whether all ranks of the job run, or have run to their end
     */
    record Begun(boolean all) implements ToUnits {}

    /**
     * Copy your part of a checkpoint, which only your host has, to where the whole is to be.
     *
     * @param round of copies, from 1: what comes of it is told with the same
     * @param parts where it is
     * @param copy  the checkpoint's copy, absolute; the lead has begun it
     */
    record Copy(int round, HostParts parts, String copy) implements ToUnits {}

    /** End that round's copies, which are of no use any more. */
    record NoCopy(int round) implements ToUnits {}

    /** Remove your host's parts of checkpoints until {@code newest} but for these. */
    record Stay(HostParts parts, long newest, Set<Long> checkpoints) implements ToUnits {}

    /**
     * Tell the lead of your ranks, by tables (docs/reference/transport.md, "Messages of the tree").
     *
     * @param question  from 1: the answer says which one it is to
     * @param endpoints at most so many of each unit
     */
    record Tell(int question, int endpoints) implements ToUnits {}

    /** Its bytes. */
    default byte[] encode() {
        return ControlMessageCodec.encode(this);
    }

    /**
     * @throws MalformedMessage for bytes that {@link #encode} has not made, and for a message that only the lead sends
     */
    static ToLead fromUnit(byte[] bytes) throws MalformedMessage {
        return switch (ControlMessageCodec.decode(bytes)) {
            case ToLead message -> message;
            case ToUnits message -> throw new MalformedMessage("protocol error: a unit sent " + name(message)
                    + ", which only the lead may send");
        };
    }

    /** @throws MalformedMessage for bytes that {@link #encode} has not made, and for a message that only units send */
    static ToUnits fromLead(byte[] bytes) throws MalformedMessage {
        return switch (ControlMessageCodec.decode(bytes)) {
            case ToUnits message -> message;
            case ToLead message -> throw new MalformedMessage("protocol error: the lead sent " + name(message)
                    + ", which only units may send");
        };
    }

    private static String name(ControlMessage message) {
        return message.getClass().getSimpleName();
    }
}
