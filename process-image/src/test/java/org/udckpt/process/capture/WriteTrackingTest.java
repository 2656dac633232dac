package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.udckpt.linux.LinuxConstants.SIGUSR1;

import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.FileLeases;
import org.udckpt.process.files.FileRequest;
import org.udckpt.process.huge.HugePages;
import org.udckpt.process.model.AddressRanges;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.tracking.HeldMemory;
import org.udckpt.process.tracking.WriteTracking;

/** What is said to be unwritten holds what it held at the checkpoint of which it is said. */
@Timeout(3600)
class WriteTrackingTest {
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
    private static final int ROUNDS = Integer.getInteger("udckpt.rounds", 1000);
    private static final int TRIES = 200;
    /** Of huge_writes.c. */
    private static final long BLOCKS = 8, HUGE = BLOCKS * HugePages.BYTES;

    @Test
    void whatIsSaidToBeUnwrittenIs() throws Exception {
        rounds(40, SEED);
    }

    @Tag("slow")
    @Test
    void forManyRounds() throws Exception {
        rounds(ROUNDS, SEED + 1);
    }

    private static void rounds(int rounds, long seed) throws Exception {
        Random random = new Random(seed);
        try (WriteTracking tracking = WriteTracking.ifAvailable();
                Target target = Target.own("writers", Long.toString(seed))) {
            assumeTrue(tracking.on(), "this kernel does not note what is written (Linux 6.7)");
            HeldMemory base = HeldMemory.nothing();
            long unwritten = 0;
            for (int round = 1; round <= rounds; round++) {
                Thread.sleep(random.nextInt(30));
                if (random.nextInt(4) == 0) {
                    HugePages.join(target.pid, () -> false,
                            block -> tracking.joining(target.pid, block, block + HugePages.BYTES));
                }
                tracking.begin();
                try (Capture capture = take(target, tracking)) {
                    MemorySource source = capture.sources().getFirst();
                    HeldMemory now = HeldMemory.of(source, round, 1 + random.nextInt(9));
                    unwritten += base.check(source.unwritten(), now, "seed " + seed + ", round " + round);
                    if (random.nextInt(4) > 0) { // else this checkpoint has failed
                        base = now;
                        boolean same = random.nextBoolean(); // what is the same is read less often, and nothing else
                        tracking.committed(round, Map.of(source.id(), now.number()),
                                _ -> same ? source.extents() : new long[0]);
                    }
                }
            }
            assertTrue(unwritten > 0, "nothing was said to be unwritten in " + rounds + " rounds");
            assertEquals("PASS", target.verdict());
        }
    }

    @Test
    void hugePagesThatAreWrittenStayHuge() throws Exception {
        try (WriteTracking tracking = WriteTracking.ifAvailable(); Target target = Target.own("huge_writes")) {
            assumeTrue(tracking.on(), "this kernel does not note what is written (Linux 6.7)");
            assumeTrue(huge(target) == HUGE, "no transparent huge pages are to be had here");
            assertEquals(0, checkpoint(target, tracking, 1, false));
            write(target, 1);
            assertTrue(checkpoint(target, tracking, 2, false) < HUGE, "it is read");
            write(target, 2);
            assertEquals(HUGE, huge(target));
            assertTrue(checkpoint(target, tracking, 3, true) < HUGE, "it is read and found to be as before");
            assertTrue(checkpoint(target, tracking, 4, true) < HUGE, "it is read a last time, and protected");
            long all = checkpoint(target, tracking, 5, true);
            assertTrue(all >= HUGE, "nobody has written to it");
            write(target, 3);
            assertEquals(0, huge(target), "the first write to what is protected splits it");
            long some = checkpoint(target, tracking, 6, false);
            assertTrue(some <= all - BLOCKS * 4096 && some >= HUGE - BLOCKS * 4096,
                    "one page of each is read: of " + all + " bytes, " + some + " are not");
            HugePages.Pass pass = HugePages.join(target.pid, () -> false,
                    block -> tracking.joining(target.pid, block, block + HugePages.BYTES));
            assumeTrue(pass.end() != HugePages.End.NOT_PERMITTED, "joining them needs CAP_SYS_NICE");
            assertEquals(HUGE, huge(target));
            write(target, 4);
            assertTrue(checkpoint(target, tracking, 7, false) < HUGE, "it is read again");
            write(target, 5);
            assertEquals(HUGE, huge(target), "what is written to again and again is not protected");
        }
    }

    /** Returns how many bytes of it need not be read. @param same whether all of it is found to be as it was */
    private static long checkpoint(Target target, WriteTracking tracking, int number, boolean same) throws Exception {
        tracking.begin();
        try (Capture capture = take(target, tracking)) {
            MemorySource source = capture.sources().getFirst();
            long unread = AddressRanges.bytes(AddressRanges.both(source.extents(), source.unwritten().unchanged()));
            tracking.committed(number, Map.of(source.id(), 1), _ -> same ? source.extents() : new long[0]);
            return unread;
        }
    }

    private static void write(Target target, int round) throws Exception {
        LinuxError.check(Syscall.call(Syscall.KILL, target.pid, SIGUSR1), "kill");
        target.await(target.directory.resolve(Integer.toString(round)), 60_000);
    }

    private static long huge(Target target) {
        String kilobytes = Proc.field(Proc.text("/proc/" + target.pid + "/smaps_rollup"), "AnonHugePages:");
        return 1024 * Long.parseLong(kilobytes.replace(" kB", ""));
    }

    private static Capture take(Target target, WriteTracking tracking) {
        CaptureRequest one = target.request();
        for (int tries = 1;; tries++) {
            try {
                return Capture.take(new CaptureRequest(one.roots(), one.streams(), false, FileRequest.open(),
                        FileLeases.now(), new TimedCalls(), tracking, one.shepherd()));
            } catch (CaptureFailed again) { // a child was being made, or has ended
                assertTrue(tries < TRIES && target.alive(), tries + ": " + again.getMessage());
            }
        }
    }
}
