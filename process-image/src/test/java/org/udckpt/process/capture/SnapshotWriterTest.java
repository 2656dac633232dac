package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.SelfWriteOrder;

/** A snapshot writes its own memory to files, and whatever goes wrong with that is no harm to the program. */
@Timeout(180)
class SnapshotWriterTest {
    private static final int PAGES = 600, PAGE = 4096, MOST = 256;
    private static final int RLIMIT_FSIZE = 1, SIGKILL = 9, SIGTERM = 15, SIGSTOP = 19;

    @TempDir
    Path temp;

    private final List<Integer> descriptors = new ArrayList<>();

    /** Files that are open, as the image writer hands them over. */
    private List<Integer> opened(String... files) {
        List<Integer> opened =
                Arrays.stream(files).map(file -> org.udckpt.linux.Files.open(file, Syscall.O_WRONLY)).toList();
        descriptors.addAll(opened);
        return opened;
    }

    @AfterEach
    void closeFiles() {
        descriptors.forEach(org.udckpt.linux.Files::close);
    }

    private static byte[] expected(int first, int count) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[count * PAGE]);
        for (long page = first; page < first + count; page++) {
            for (long word = 0; word < PAGE / 8 && page % 7 != 3; word++) {
                bytes.set(JAVA_LONG_UNALIGNED, (page - first) * PAGE + 8 * word, page << 32 | word);
            }
        }
        return bytes.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
    }

    private Path file(Path directory) throws Exception {
        return Files.createFile(directory.resolve("stripe" + System.nanoTime()));
    }

    private static SelfWriteOrder plain(int file, long offset, byte[] digest) {
        return new SelfWriteOrder(file, offset, 0, 0, digest, null, null, null);
    }

    private void writesAll(FrozenTarget frozen, boolean direct) throws Exception {
        Path file = file(direct ? temp : frozen.target.directory);
        assertNull(frozen.snapshot.ready(opened(file.toString()), direct, true, 1));
        long[] runs = {frozen.pages, 100 * PAGE, frozen.pages + 100 * PAGE, 156 * PAGE};
        BitSet zeros = new BitSet();
        long[] hashes = new long[2 * MOST];
        frozen.snapshot.look(0, runs, 4, zeros, hashes);
        for (int page = 0; page < MOST; page++) {
            assertEquals(page % 7 == 3, zeros.get(page), "page " + page);
        }
        assertEquals(37, zeros.cardinality(), "pages 3, 10 ... 255");
        for (int page = 0; page < MOST; page++) {
            int as = page % 7 == 3 ? 3 : page; // zeros are like zeros, no other two pages are like each other
            assertArrayEquals(new long[]{hashes[2 * as], hashes[2 * as + 1]},
                    new long[]{hashes[2 * page], hashes[2 * page + 1]}, "page " + page);
        }
        assertEquals(MOST - zeros.cardinality() + 1, java.util.stream.IntStream.range(0, MOST)
                .mapToObj(page -> hashes[2 * page] + " " + hashes[2 * page + 1]).distinct().count());
        byte[] digest = new byte[32];
        long first = frozen.snapshot.append(0, runs, 4, plain(0, 0, digest));
        assertArrayEquals(MessageDigest.getInstance("SHA-256").digest(expected(0, MOST)), digest);
        long last =
                frozen.snapshot.append(0, new long[]{frozen.pages + 599L * PAGE, PAGE}, 2, plain(0, MOST * PAGE, null));
        assertTrue(first != 0 && first != last, "hashes " + first + " " + last);
        byte[] written = Files.readAllBytes(file);
        assertEquals((MOST + 1) * PAGE, written.length);
        assertArrayEquals(expected(0, MOST), Arrays.copyOf(written, MOST * PAGE));
        assertArrayEquals(expected(599, 1), Arrays.copyOfRange(written, MOST * PAGE, written.length));
        assertEquals(first, frozen.snapshot.append(0, runs, 4, plain(0, written.length, null)), "the same bytes");
    }

    @Test
    void itWritesWhatWasFrozen() throws Exception {
        try (Target target = Target.own("pages")) {
            for (boolean direct : new boolean[]{false, true, false}) {
                try (FrozenTarget frozen = new FrozenTarget(target)) {
                    frozen.assertGoesOn();
                    writesAll(frozen, direct);
                }
            }
            assertEquals(List.of(target.pid), target.processes(), "no snapshot is left");
        }
    }

    private static byte[] tag(byte[] key, byte[] seal, byte[] bytes) throws Exception {
        Cipher gmac = Cipher.getInstance("AES/GCM/NoPadding");
        gmac.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, seal, 0, 12));
        gmac.updateAAD(bytes);
        return gmac.doFinal();
    }

    /** Every seventh page of the target holds only zeros. */
    @Test
    void nothingIsAppendedWhereThereAreZeros() throws Exception {
        try (Target target = Target.own("pages"); FrozenTarget frozen = new FrozenTarget(target)) {
            Path file = file(temp);
            assertNull(frozen.snapshot.ready(opened(file.toString()), true, false, 1));
            BitSet zeros = new BitSet();
            frozen.snapshot.append(0, new long[]{frozen.pages + 2L * PAGE, 9L * PAGE}, 2,
                    new SelfWriteOrder(0, 0, 0, 0, null, null, null, zeros));
            assertEquals(BitSet.valueOf(new long[]{1 << 1 | 1 << 8}), zeros, "pages 3 and 10");
            assertEquals(0, Files.size(file));
            byte[] digest = new byte[32];
            long hash = frozen.snapshot.append(0, new long[]{frozen.pages + 4L * PAGE, 6L * PAGE}, 2,
                    new SelfWriteOrder(0, 0, 0, 0, digest, null, null, zeros));
            assertTrue(zeros.isEmpty());
            assertArrayEquals(expected(4, 6), Files.readAllBytes(file));
            assertArrayEquals(MessageDigest.getInstance("SHA-256").digest(expected(4, 6)), digest);
            assertEquals(hash, frozen.snapshot.append(0, new long[]{frozen.pages + 4L * PAGE, 6L * PAGE}, 2,
                    plain(0, 6L * PAGE, null)));
        }
    }

    @Test
    void itsTagsAreThoseOfTheJdk() throws Exception {
        try (Target target = Target.own("pages"); FrozenTarget frozen = new FrozenTarget(target)) {
            int writers = 2;
            assertNull(
                    frozen.snapshot.ready(opened(file(temp).toString(), file(temp).toString()), true, false, writers));
            Random random = new Random(7);
            long[] at = new long[writers];
            for (int round = 0; round < 40; round++) {
                int writer = random.nextInt(writers);
                byte[] key = new byte[32];
                byte[] seal = new byte[28];
                random.nextBytes(key);
                random.nextBytes(seal);
                int first = random.nextInt(300);
                int count = 1 + random.nextInt(MOST);
                long[] runs = {frozen.pages + (long) first * PAGE, (long) count * PAGE};
                byte[] digest = random.nextBoolean() ? new byte[32] : null;
                assertEquals(0, frozen.snapshot.append(writer, runs, 2,
                        new SelfWriteOrder(writer, at[writer], 0, 0, digest, key, seal, null)));
                at[writer] += runs[1];
                assertArrayEquals(tag(key, seal, expected(first, count)), Arrays.copyOfRange(seal, 12, 28),
                        "round " + round);
                if (digest != null) {
                    assertArrayEquals(MessageDigest.getInstance("SHA-256").digest(expected(first, count)), digest);
                }
            }
        }
    }

    /**
     * What it computes with is not in the memory that it writes: that would change between the tag and the write, and
     * tell of the key.
     */
    @Test
    void itsOwnLibrarysMemoryIsWrittenAsItWas() throws Exception {
        try (Target target = Target.own("pages"); FrozenTarget frozen = new FrozenTarget(target)) {
            Path file = file(target.directory);
            assertNull(frozen.snapshot.ready(opened(file.toString()), false, false, 1));
            byte[] key = new byte[32];
            new Random(5).nextBytes(key);
            long at = 0;
            int libraries = 0;
            List<String> maps = Files.readAllLines(Path.of("/proc/" + frozen.snapshot.pid() + "/maps"));
            for (int i = 0; i < maps.size(); i++) {
                boolean data = maps.get(i).contains("/libudckpt.so") && maps.get(i).contains(" rw-p ");
                boolean bss = i > 0 && maps.get(i - 1).contains("/libudckpt.so")
                        && maps.get(i).contains(" rw-p 00000000 00:00 0");
                String[] range = maps.get(i).split("[- ]", 3);
                long start = Long.parseUnsignedLong(range[0], 16);
                long end = Math.min(Long.parseUnsignedLong(range[1], 16), start + (long) MOST * PAGE);
                for (int round = 0; (data || bss) && round < 3; round++) {
                    byte[] seal = new byte[28];
                    seal[0] = (byte) round;
                    frozen.snapshot.append(0, new long[]{start, end - start}, 2,
                            new SelfWriteOrder(0, at, 0, 0, null, key, seal, null));
                    byte[] written = Arrays.copyOfRange(Files.readAllBytes(file), (int) at, (int) (at + end - start));
                    assertArrayEquals(tag(key, seal, written), Arrays.copyOfRange(seal, 12, 28), maps.get(i));
                    at += end - start;
                    libraries++;
                }
            }
            assertTrue(libraries >= 6, String.join("\n", maps));
        }
    }

    /** In the huge pages of all files in memory. */
    private static long hugeKibibytes() throws Exception {
        return Files.readAllLines(Path.of("/proc/meminfo")).stream().filter(line -> line.startsWith("ShmemHugePages:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).sum();
    }

    /**
     * A tmpfs without huge= (/dev/shm mostly): its files have huge pages where they are asked for, and the same bytes.
     */
    @Test
    void aTmpfsIsAskedForHugePages() throws Exception {
        try (Target target = Target.own("pages"); FrozenTarget frozen = new FrozenTarget(target)) {
            Path file = Files.createTempFile(Path.of("/dev/shm"), "udckpt-huge-", "");
            try {
                assertNull(frozen.snapshot.ready(opened(file.toString()), false, false, 1));
                long[] runs = {frozen.pages, (long) MOST * PAGE};
                int blocks = 10;
                long room = 12 << 20;
                long before = hugeKibibytes();
                for (int i = 0; i < blocks; i++) {
                    frozen.snapshot.append(0, runs, 2, new SelfWriteOrder(0, (long) i * MOST * PAGE, i == 0 ? 0 : room,
                            room, null, null, null, null));
                }
                byte[] written = Files.readAllBytes(file);
                assertTrue(written.length >= blocks * MOST * PAGE && written.length <= room, written.length + " bytes");
                for (int i = 0; i < blocks; i++) {
                    assertArrayEquals(expected(0, MOST),
                            Arrays.copyOfRange(written, i * MOST * PAGE, (i + 1) * MOST * PAGE));
                }
                assertArrayEquals(new byte[written.length - blocks * MOST * PAGE],
                        Arrays.copyOfRange(written, blocks * MOST * PAGE, written.length));
                String[] kernel = System.getProperty("os.version").split("[.-]");
                assumeTrue(Integer.parseInt(kernel[0]) * 1000 + Integer.parseInt(kernel[1]) >= 6001,
                        "MADV_COLLAPSE of files is Linux 6.1's");
                long huge = hugeKibibytes() - before;
                // of the last 2 MiB there is but one byte
                assertTrue(huge >= 5 << 11, huge + " KiB of it are in huge pages");
            } finally {
                Files.delete(file);
            }
        }
    }

    private static long ownHugeKibibytes(int pid) throws Exception {
        return Files.readAllLines(Path.of("/proc/" + pid + "/smaps_rollup")).stream()
                .filter(line -> line.startsWith("AnonHugePages:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).sum();
    }

    /** A device that writes from one is given one place. Two writers share a huge page. */
    @Test
    void itWritesFromHugePages() throws Exception {
        assumeTrue(!Files.readString(Path.of("/sys/kernel/mm/transparent_hugepage/enabled")).contains("[never]"),
                "the administrator has turned them off");
        try (Target target = Target.own("pages"); FrozenTarget frozen = new FrozenTarget(target)) {
            long before = ownHugeKibibytes(frozen.snapshot.pid());
            List<String> files = List.of(file(temp).toString(), file(temp).toString(), file(temp).toString());
            assertNull(frozen.snapshot.ready(opened(files.toArray(String[]::new)), true, false, 3));
            for (int writer = 0; writer < 3; writer++) {
                frozen.snapshot.append(writer, new long[]{frozen.pages, (long) MOST * PAGE}, 2, plain(writer, 0, null));
                assertArrayEquals(expected(0, MOST), Files.readAllBytes(Path.of(files.get(writer))));
            }
            assertEquals(4096, ownHugeKibibytes(frozen.snapshot.pid()) - before);
        }
    }

    @Test
    void severalWritersOfOneSnapshotWorkAtOnce() throws Exception {
        try (Target target = Target.own("pages"); FrozenTarget frozen = new FrozenTarget(target)) {
            int writers = 3;
            List<String> files = List.of(file(temp).toString(), file(temp).toString(), file(temp).toString());
            assertNull(frozen.snapshot.ready(opened(files.toArray(String[]::new)), true, false, writers));
            List<Thread> threads = new java.util.ArrayList<>();
            java.util.concurrent.ConcurrentLinkedQueue<Throwable> failures =
                    new java.util.concurrent.ConcurrentLinkedQueue<>();
            for (int i = 0; i < writers; i++) {
                int writer = i;
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int round = 0; round < 50; round++) {
                        frozen.snapshot.append(writer, new long[]{frozen.pages + 100L * PAGE * writer, 100 * PAGE}, 2,
                                plain(writer, 100L * PAGE * round, null));
                    }
                }));
                threads.getLast().setUncaughtExceptionHandler((thread, failure) -> failures.add(failure));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(List.of(), List.copyOf(failures));
            for (int i = 0; i < writers; i++) {
                byte[] written = Files.readAllBytes(Path.of(files.get(i)));
                assertEquals(50 * 100 * PAGE, written.length);
                for (int round = 0; round < 50; round++) {
                    assertArrayEquals(expected(100 * i, 100),
                            Arrays.copyOfRange(written, 100 * PAGE * round, 100 * PAGE * (round + 1)));
                }
            }
            frozen.assertGoesOn();
        }
    }

    @Test
    void itIsReadableAllTheWhile() throws Exception {
        try (Target target = Target.own("pages"); FrozenTarget frozen = new FrozenTarget(target)) {
            writesAll(frozen, false);
            MemorySegment page = java.lang.foreign.Arena.ofAuto().allocate(PAGE);
            frozen.snapshot.read(frozen.pages + 8L * PAGE, page);
            assertEquals(8L << 32 | 1, page.get(JAVA_LONG, 8));
        }
    }

    @Test
    void aProgramsProcessorsAndPrioritiesAreNotItsSnapshots() throws Exception {
        try (Target target = Target.own("pages")) {
            Scratch.data().set(JAVA_LONG, 0, 1);
            LinuxError.check(Syscall.call(Syscall.SCHED_SETAFFINITY, target.pid, 8, Scratch.data().address()),
                    "sched_setaffinity");
            String nice = Proc.stat(target.pid)[16]; // of whoever runs the tests
            try (FrozenTarget frozen = new FrozenTarget(target)) {
                assertNull(frozen.snapshot.ready(opened(file(temp).toString()), false, true, 1));
                assertEquals(allowed(Proc.text("/proc/self/status")),
                        allowed(Proc.text("/proc/" + frozen.snapshot.pid() + "/status")));
                assertEquals("19", Proc.stat(frozen.snapshot.pid())[16], "nice");
                assertEquals(nice, Proc.stat(target.pid)[16], "the program's own");
                assertEquals("1", allowed(Proc.text("/proc/" + target.pid + "/status")));
            }
        }
    }

    private static String allowed(String status) {
        return Proc.field(status, "Cpus_allowed:").replaceFirst("^[0,]*", "");
    }

    @Test
    void aFullFileSystemIsAnErrorOfTheWrite() throws Exception {
        assumeTrue(new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", temp.toString())
                .start().waitFor() == 0, "no right to mount");
        try (Target target = Target.own("pages"); FrozenTarget frozen = new FrozenTarget(target)) {
            Path file = file(temp);
            assertNull(frozen.snapshot.ready(opened(file.toString()), false, false, 1));
            LinuxError full = assertThrows(LinuxError.class,
                    () -> frozen.snapshot.append(0, new long[]{frozen.pages, 64 * PAGE}, 2, plain(0, 0, null)));
            assertEquals(LinuxError.ENOSPC, full.errno());
            frozen.snapshot.look(0, new long[]{frozen.pages, PAGE}, 2, new BitSet(), null); // it takes orders as before
            frozen.assertGoesOn();
        } finally {
            assertEquals(0, new ProcessBuilder("umount", "-l", temp.toString()).start().waitFor());
        }
    }

    @Test
    void oneThatIsKilledIsMissed() throws Exception {
        try (Target target = Target.own("pages")) {
            try (FrozenTarget frozen = new FrozenTarget(target)) {
                assertNull(frozen.snapshot.ready(opened(file(temp).toString()), false, false, 1));
                Syscall.call(Syscall.KILL, frozen.snapshot.pid(), SIGTERM); // blocked: it goes on
                Syscall.call(Syscall.KILL, frozen.snapshot.pid(), SIGSTOP); // cannot be blocked: it is let go on
                frozen.snapshot.look(0, new long[]{frozen.pages, PAGE}, 2, new BitSet(), null);
                Syscall.call(Syscall.KILL, frozen.snapshot.pid(), SIGKILL);
                CaptureFailed missed = assertThrows(CaptureFailed.class,
                        () -> frozen.snapshot.append(0, new long[]{frozen.pages, PAGE}, 2, plain(0, 0, null)));
                assertTrue(missed.getMessage().contains("" + frozen.snapshot.pid()), missed.getMessage());
                assertThrows(CaptureFailed.class,
                        () -> frozen.snapshot.look(0, new long[]{frozen.pages, PAGE}, 2, new BitSet(), null),
                        "asked again");
                frozen.assertGoesOn();
            }
            assertEquals(List.of(target.pid), target.processes());
        }
    }

    @Test
    void oneThatTouchesWhatIsNotThereIsMissedToo() throws Exception {
        try (Target target = Target.own("pages")) {
            try (FrozenTarget frozen = new FrozenTarget(target)) {
                assertNull(frozen.snapshot.ready(opened(file(temp).toString()), false, false, 1));
                assertThrows(CaptureFailed.class,
                        () -> frozen.snapshot.append(0, new long[]{PAGE, PAGE}, 2, plain(0, 0, null)));
                frozen.assertGoesOn();
            }
            assertEquals(List.of(target.pid), target.processes());
        }
    }

    @Test
    void whatCannotBeIsSaid() throws Exception {
        try (Target target = Target.own("pages")) {
            Scratch.data().set(JAVA_LONG, 0, 1 << 20);
            Scratch.data().set(JAVA_LONG, 8, -1); // the soft limit counts
            LinuxError.check(Syscall.call(Syscall.PRLIMIT64, target.pid, RLIMIT_FSIZE, Scratch.data().address(), 0),
                    "prlimit");
            try (FrozenTarget frozen = new FrozenTarget(target)) {
                String reason = frozen.snapshot.ready(opened(file(temp).toString()), false, false, 1);
                assertTrue(reason.contains("ulimit -f"), reason);
            }
        }
        try (Target target = Target.linking("unlinked"); Capture capture = Capture.take(target.request())) {
            String reason =
                    ((Snapshot) capture.sources().getFirst()).ready(opened(file(temp).toString()), false, false, 1);
            assertTrue(reason != null && reason.contains("dynamic linker"), String.valueOf(reason));
        }
        try (Target target = Target.own("cut"); Capture capture = Capture.take(target.request())) {
            String reason =
                    ((Snapshot) capture.sources().getFirst()).ready(opened(file(temp).toString()), false, false, 1);
            assertTrue(reason.contains("fork does not copy"), reason);
        }
        try (Target target = Target.own("pages"); FrozenTarget frozen = new FrozenTarget(target)) {
            String reason = frozen.snapshot.ready(List.of(Integer.MAX_VALUE), false, false, 1); // no descriptor
            assertTrue(reason.contains("ENOENT"), reason);
            MemorySegment page = java.lang.foreign.Arena.ofAuto().allocate(PAGE);
            frozen.snapshot.read(frozen.pages, page); // as before
            assertEquals(1, page.get(JAVA_LONG, 8));
        }
    }
}
