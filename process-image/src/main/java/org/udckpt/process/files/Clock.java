package org.udckpt.process.files;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * The clock from which file systems take st_ctime: CLOCK_REALTIME_COARSE, which moves by ticks. A file that is written
 * after a moment has a ctime that is not before it; so one whose ctime lies before the tick of the stop, and is the
 * same later, was not written since.
 */
final class Clock {
    private static final int REALTIME_COARSE = 5;
    private static final long SECOND = 1_000_000_000L, UNKNOWN_GRAIN = 3 * SECOND, TICKS = 50_000_000L;
    /** File systems whose times are as fine as the clock: ext4, XFS, Btrfs, tmpfs, F2FS, overlayfs, ZFS (statfs(2)). */
    private static final long[] FINE =
            {0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0xF2F5_2010, 0x794c_7630, 0x2fc1_2fc1};

    private Clock() {}

    static long now() {
        LinuxError.check(Syscall.call(Syscall.CLOCK_GETTIME, REALTIME_COARSE, Scratch.data().address()),
                "clock_gettime");
        return Scratch.data().get(JAVA_LONG, 0) * SECOND + Scratch.data().get(JAVA_LONG, 8);
    }

    /**
     * Whether a later write of the file can be told by its ctime, once {@link #pass} has been waited for. From Linux
     * 6.13 on a stamp may be a tick ahead of this clock, where somebody has looked at the one before it.
     */
    static boolean tells(int file, Files.Stat stat) {
        long now = now();
        return stat.changed() <= now + TICKS
                && (isFine(file) && stat.changed() % SECOND != 0 || stat.changed() < now - UNKNOWN_GRAIN);
    }

    private static boolean isFine(int file) {
        if (Syscall.call(Syscall.FSTATFS, file, Scratch.data().address()) < 0) {
            return false;
        }
        long type = Scratch.data().get(JAVA_LONG, 0) & 0xffff_ffffL;
        for (long fine : FINE) {
            if (fine == type) {
                return true;
            }
        }
        return false;
    }

    /**
     * Waits until the clock is later than {@code time}: two ticks at most, where that is the stamp of a file. False:
     * the clock stands.
     */
    static boolean pass(long time) {
        long end = System.nanoTime() + 2 * TICKS;
        while (now() <= time) {
            if (System.nanoTime() > end) {
                return now() > time; // this thread may have had to wait between the two
            }
            Thread.onSpinWait();
        }
        return true;
    }
}
