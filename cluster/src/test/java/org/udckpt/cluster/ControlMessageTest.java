package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.image.Manifest;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.PartReport;

/** Control messages, and bytes that are none. */
class ControlMessageTest {
    private static final long SEED = 20;
    private static final PartReport PART = new PartReport(new Manifest.Node(3, "n 3"), List.of(), 4096, 17,
            List.of(5L, 6L), new TreeSet<>(List.of(1L)));
    private static final HostParts PARTS = new HostParts(Path.of("/local/ssd/job ü"));
    private static final List<ControlMessage> ALL =
            List.of(new ControlMessage.Report(PART), new ControlMessage.Ends(OptionalInt.empty(), "rank 3 was killed"),
                    new ControlMessage.Ends(OptionalInt.of(74), "ü"),
                    new ControlMessage.Ended(139), new ControlMessage.Revived("namespaces 3 ms"),
                    new ControlMessage.Signal(10), new ControlMessage.Begun(true), new ControlMessage.Begun(false),
                    new ControlMessage.Copy(7, PARTS, "/scratch/heat/ckpt-0003"), new ControlMessage.NoCopy(7),
                    new ControlMessage.Copied(7, ""), new ControlMessage.Copied(8, "it is full"),
                    new ControlMessage.Stay(PARTS, 9, Set.of(4L, 9L)),
                    new ControlMessage.Stay(PARTS, 9, Set.of()), new ControlMessage.Tell(3, 65536));

    @Test
    void eachComesAsItWasSent() throws Exception {
        for (ControlMessage note : ALL) {
            assertEquals(note, ControlMessageCodec.decode(note.encode()));
        }
    }

    /** Each goes one way, and its receiver refuses it when it comes the other way. */
    @Test
    void theWrongDirectionIsRefused() throws Exception {
        for (ControlMessage message : ALL) {
            byte[] bytes = message.encode();
            if (message instanceof ControlMessage.ToLead) {
                assertEquals(message, ControlMessage.fromUnit(bytes));
                MalformedMessage refused = assertThrows(MalformedMessage.class, () -> ControlMessage.fromLead(bytes));
                assertTrue(
                        refused.getMessage()
                                .startsWith("protocol error: the lead sent " + message.getClass().getSimpleName()),
                        refused.getMessage());
            } else {
                assertEquals(message, ControlMessage.fromLead(bytes));
                assertThrows(MalformedMessage.class, () -> ControlMessage.fromUnit(bytes));
            }
        }
    }

    @Test
    void pathsAreAbsoluteAndPlain() {
        for (String path : List.of("", "scratch/ckpt-0003", "/scratch/../ckpt-0003", "/scratch//ckpt-0003", "/a\0b")) {
            byte[] bytes = new ControlMessage.Copy(1, PARTS, path).encode();
            assertThrows(MalformedMessage.class, () -> ControlMessageCodec.decode(bytes), path);
        }
    }

    @Test
    void whatBreaksOffIsRefused() throws Exception {
        assertThrows(MalformedMessage.class, () -> ControlMessageCodec.decode(new byte[0]));
        for (ControlMessage note : ALL) {
            byte[] whole = note.encode();
            boolean isText = note instanceof ControlMessage.Revived;
            int least = switch (note) {
                case ControlMessage.Ends _,ControlMessage.Copied _ -> 5; // text follows
                // any that begins with a slash
                case ControlMessage.Copy copy -> whole.length - copy.copy().length() + 1;
                default -> whole.length;
            };
            for (int length = 1; length < least && !isText; length++) {
                byte[] some = Arrays.copyOf(whole, length);
                if (note instanceof ControlMessage.Report && length > 1 && some[length - 1] == '\n') {
                    continue; // fewer lines are a report, too
                }
                if (note instanceof ControlMessage.Stay && (whole.length - length) % Long.BYTES == 0
                        && whole.length - length <= 2 * Long.BYTES && length > whole.length / 2) {
                    continue; // fewer that stay
                }
                assertThrows(MalformedMessage.class, () -> ControlMessageCodec.decode(some),
                        () -> note + " of " + some.length + " bytes");
            }
        }
    }

    @Test
    void whatIsLongerThanItMayBeIsRefused() {
        for (ControlMessage note : List.of(new ControlMessage.Ended(1), new ControlMessage.Signal(2),
                new ControlMessage.Begun(true), new ControlMessage.Report(PART), new ControlMessage.Tell(1, 0))) {
            byte[] longer = Arrays.copyOf(note.encode(), note.encode().length + 1);
            assertThrows(MalformedMessage.class, () -> ControlMessageCodec.decode(longer), note::toString);
        }
    }

    /** Of any bytes: a note that encodes to the same meaning, or {@link MalformedMessage} and nothing else. */
    @Test
    void otherBytesAreRefusedOrMeanSomething() throws Exception {
        Random random = new Random(SEED);
        for (int run = 0; run < 20_000; run++) {
            byte[] bytes = run % 2 == 0 ? new byte[random.nextInt(64)] : ALL.get(random.nextInt(ALL.size())).encode();
            if (run % 2 == 0) {
                random.nextBytes(bytes);
                if (bytes.length > 0) {
                    bytes[0] = (byte) random.nextInt(13);
                }
            } else {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            ControlMessage note;
            try {
                note = ControlMessageCodec.decode(bytes);
            } catch (MalformedMessage refused) {
                continue;
            }
            int number = run;
            assertEquals(note, ControlMessageCodec.decode(note.encode()), () -> "run " + number + " of seed " + SEED);
        }
    }
}
