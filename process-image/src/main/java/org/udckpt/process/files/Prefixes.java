package org.udckpt.process.files;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32C;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * Sums of what large files that are being written held before the stop. A file that grows during its saving, and of
 * which each block is what it was before the stop, had those blocks at the stop.
 */
public final class Prefixes {
    static final int BLOCK = 1 << 20;

    private final Map<String, int[]> sums = new HashMap<>();
    private final FileRequest request;

    public Prefixes(FileRequest request) {
        this.request = request;
    }

    /**
     * Prepares an open file of a running job. If it is large and recently written, it is read now, since it may be too
     * large to be copied during the stop. If it can be cloned, a throw-away clone is made now instead, which flushes
     * it: the clone in the stop is then fast.
     *
     * @param through a path by which it can be opened, of /proc/PID/fd
     */
    public void consider(String through, QuietFiles quiet) {
        Files.Stat open = Files.tryStat(through);
        String path = Files.readLink(through);
        if (open == null || path == null || open.type() != Files.Stat.REGULAR || isSmallOrQuiet(open)
                || quiet.observers().hasLease(open)) {
            return;
        }
        long fd = quiet.tryOpen(through, path);
        if (fd < 0) {
            return; // closed meanwhile, or not readable: what becomes of it is decided in the stop
        }
        try {
            Files.Stat stat = Files.stat((int) fd);
            String key = Candidate.key(stat);
            if (isSmallOrQuiet(stat) || sums.containsKey(key)) {
                return;
            }
            int clone = quiet.observers().isDirectoryWatched(path) ? -1 : FileCopies.tryClone((int) fd, path);
            if (clone >= 0) {
                Files.close(clone);
            } else if (stat.size() > request.inStop()) {
                sums.put(key, sums((int) fd, stat.size() / BLOCK, through));
            }
        } finally {
            Files.close((int) fd);
        }
    }

    private static boolean isSmallOrQuiet(Files.Stat stat) {
        return stat.size() < FileCut.CLONED_FROM || Candidate.isQuiet(stat);
    }

    /** The end of what was read before; 0: nothing was. */
    long end(String key) {
        int[] known = sums.get(key);
        return known == null ? 0 : (long) known.length * BLOCK;
    }

    /** Whether the blocks from {@link FrozenEnds#HEAD} to {@code end} are what they were before the stop. */
    boolean areStill(String key, int file, long end, String path) {
        int[] before = sums.get(key);
        int[] now = sums(file, end / BLOCK, path);
        int first = FrozenEnds.HEAD / BLOCK;
        return Arrays.equals(before, first, now.length, now, first, now.length);
    }

    private static int[] sums(int file, long blocks, String path) {
        int[] sums = new int[Math.toIntExact(blocks)];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(BLOCK);
            for (int i = 0; i < sums.length; i++) {
                long read = 0;
                for (long n = 1; read < BLOCK && n > 0; read += n) {
                    n = LinuxError.check(Syscall.call(Syscall.PREAD64, file, buffer.address() + read, BLOCK - read,
                            (long) i * BLOCK + read), "read of " + path);
                }
                CRC32C sum = new CRC32C();
                sum.update(buffer.asSlice(0, read).asByteBuffer());
                sums[i] = (int) sum.getValue();
            }
        }
        return sums;
    }
}
