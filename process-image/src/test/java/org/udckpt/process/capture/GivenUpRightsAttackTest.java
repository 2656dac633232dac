package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.attack.Tries;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.SelfWriteOrder;

/**
 * The worker of a server of root, who has given up rights and changed the code with which its snapshot is to write
 * itself (worker.c).
 */
@Timeout(600)
class GivenUpRightsAttackTest {
    private static final int SECRET_BYTES = 64 * 4096;
    private static final byte[] SECRET = "SECRET of the server".getBytes(java.nio.charset.StandardCharsets.US_ASCII);

    @ParameterizedTest
    @ValueSource(strings = {"user", "thread", "capabilities", "sandbox", "child"})
    void aSnapshotIsGivenNothingThatItsProcessCouldNotHave(String way) throws Exception {
        OrdinaryUser.requireRoot();
        try (Target target = Target.own("worker", way, "" + OrdinaryUser.STRANGER.uid())) {
            Tries.noneWins("a worker without rights (" + way + ") changes its snapshot's code", 4,
                    number -> wins(target));
        }
    }

    /**
     * A process that shares memory with a worker that has given up rights, otherwise than a child with its parent, is
     * refused.
     */
    @Test
    void nothingIsTakenOfTwoWhoShareTheirMemory() throws Exception {
        OrdinaryUser.requireRoot();
        try (Target target = Target.own("worker", "memory", "" + OrdinaryUser.STRANGER.uid())) {
            CaptureRefused refused = assertThrows(CaptureRefused.class, () -> Capture.take(target.request()).close());
            assertTrue(refused.getMessage().contains("shares memory"), refused.getMessage());
        }
    }

    private static boolean wins(Target target) throws Exception {
        Path won = target.directory.resolve("won");
        long before = Files.size(won);
        Path stripe = Files.createTempFile(target.directory, "stripe", "");
        int file = org.udckpt.linux.Files.open(stripe.toString(), Syscall.O_RDWR);
        try (Capture capture = Capture.take(target.request())) {
            List<MemorySource> sources = capture.sources();
            Snapshot server = (Snapshot) sources.getFirst();
            assertNull(server.ready(List.of(file), false, false, 1), "the server has all rights, and writes itself");
            writeSecret(server, stripe);
            int refused = 0;
            for (MemorySource source : sources.subList(1, sources.size())) {
                if (source instanceof Snapshot worker) {
                    refused += worker.ready(List.of(file), false, false, 1) == null ? 0 : 1;
                    // by the agent, it is there as any
                    worker.read(worker.extents()[0], java.lang.foreign.Arena.ofAuto().allocate(4096));
                }
            }
            if (refused == 0) {
                Thread.sleep(200); // what was begun shall have its time
            }
            assertTrue(refused > 0 || Files.size(won) > before, "the attack is one: where nothing refuses it, it wins");
            return Files.size(won) > before;
        } finally {
            org.udckpt.linux.Files.close(file);
        }
    }

    /** The secret is in the image's file, from where a thief would have it. */
    private static void writeSecret(Snapshot server, Path stripe) throws Exception {
        long[] extents = server.extents();
        try (ProcessMemory memory = new ProcessMemory(server.pid())) {
            for (int i = 0; i < extents.length; i += 2) {
                for (long at = extents[i]; at + SECRET_BYTES <= extents[i + 1]; at += 4096) {
                    if (Arrays.equals(SECRET, memory.readBytes(at, SECRET.length))
                            && Arrays.equals(SECRET, memory.readBytes(at + SECRET_BYTES - 4096, SECRET.length))) {
                        server.append(0, new long[]{at, SECRET_BYTES}, 2,
                                new SelfWriteOrder(0, 0, 0, 0, null, null, null, null));
                        assertEquals(SECRET_BYTES, Files.size(stripe));
                        return;
                    }
                }
            }
        }
        throw new AssertionError("the server has no secret");
    }
}
