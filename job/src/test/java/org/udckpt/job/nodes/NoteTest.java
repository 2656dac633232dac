package org.udckpt.job.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.udckpt.image.Manifest;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.job.tree.MalformedMessage;

/** Notes between nodes, and bytes that are none. */
class NoteTest {
    private static final long SEED = 20;
    private static final PartReport PART = new PartReport(new Manifest.Node(3, "n 3"), List.of(), 4096, 17, List.of(5L, 6L), new TreeSet<>(List.of(1L)));
    private static final HostParts PARTS = new HostParts(Path.of("/local/ssd/job ü"));
    private static final List<Note> ALL = List.of(new Note.Report(PART), new Note.Ends(OptionalInt.empty(), "rank 3 was killed"), new Note.Ends(OptionalInt.of(74), "ü"),
            new Note.Ended(139), new Note.Revived("namespaces 3 ms"), new Note.Signal(10), new Note.Begun(true), new Note.Begun(false),
            new Note.Copy(7, PARTS, "/scratch/heat/ckpt-0003"), new Note.NoCopy(7), new Note.Copied(7, ""), new Note.Copied(8, "it is full"), new Note.Stay(PARTS, 9, Set.of(4L, 9L)),
            new Note.Stay(PARTS, 9, Set.of()), new Note.Tell(3, 65536));

    @Test
    void eachComesAsItWasSent() throws Exception {
        for (Note note : ALL) {
            assertEquals(note, Note.decode(note.encode()));
        }
    }

    @Test
    void pathsAreAbsoluteAndPlain() {
        for (String path : List.of("", "scratch/ckpt-0003", "/scratch/../ckpt-0003", "/scratch//ckpt-0003", "/a\0b")) {
            byte[] bytes = new Note.Copy(1, PARTS, path).encode();
            assertThrows(MalformedMessage.class, () -> Note.decode(bytes), path);
        }
    }

    @Test
    void whatBreaksOffIsRefused() throws Exception {
        assertThrows(MalformedMessage.class, () -> Note.decode(new byte[0]));
        for (Note note : ALL) {
            byte[] whole = note.encode();
            boolean isText = note instanceof Note.Revived;
            int least = switch (note) {
                case Note.Ends _, Note.Copied _ -> 5; // text follows
                case Note.Copy copy -> whole.length - copy.copy().length() + 1; // any that begins with a slash
                default -> whole.length;
            };
            for (int length = 1; length < least && !isText; length++) {
                byte[] some = Arrays.copyOf(whole, length);
                if (note instanceof Note.Report && length > 1 && some[length - 1] == '\n') {
                    continue; // fewer lines are a report, too
                }
                if (note instanceof Note.Stay && (whole.length - length) % Long.BYTES == 0 && whole.length - length <= 2 * Long.BYTES && length > whole.length / 2) {
                    continue; // fewer that stay
                }
                assertThrows(MalformedMessage.class, () -> Note.decode(some), () -> note + " of " + some.length + " bytes");
            }
        }
    }

    @Test
    void whatIsLongerThanItMayBeIsRefused() {
        for (Note note : List.of(new Note.Ended(1), new Note.Signal(2), new Note.Begun(true), new Note.Report(PART), new Note.Tell(1, 0))) {
            byte[] longer = Arrays.copyOf(note.encode(), note.encode().length + 1);
            assertThrows(MalformedMessage.class, () -> Note.decode(longer), note::toString);
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
            Note note;
            try {
                note = Note.decode(bytes);
            } catch (MalformedMessage refused) {
                continue;
            }
            int number = run;
            assertEquals(note, Note.decode(note.encode()), () -> "run " + number + " of seed " + SEED);
        }
    }
}
