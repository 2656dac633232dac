package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.PR_SET_NO_NEW_PRIVS;

import java.lang.foreign.MemorySegment;

/** Landlock domains (landlock(7)), whose number for a process the kernel does not tell. */
public final class Landlock {
    private static final int CREATE_RULESET = 444, RESTRICT_SELF = 446, MOST = 64;
    /** LANDLOCK_ACCESS_FS_MAKE_BLOCK. */
    private static final long RIGHT = 1 << 11;
    private static int room = -1;

    private Landlock() {}

    /** How many more can be laid around this process, as a process that ends at once finds out. */
    public static synchronized int room() {
        room = room < 0 ? count() : room;
        return room;
    }

    private static int count() {
        try (CallingProcess process = new CallingProcess()) {
            MemorySegment ruleset = Scratch.data().asSlice(0, 8);
            ruleset.set(JAVA_LONG, 0, RIGHT);
            call(process, Syscall.PRCTL, PR_SET_NO_NEW_PRIVS, 1);
            long made = call(process, CREATE_RULESET, ruleset.address(), 8);
            int layers = 0;
            while (made >= 0 && layers < MOST && call(process, RESTRICT_SELF, made, 0) == 0) {
                layers++;
            }
            if (made >= 0) {
                call(process, Syscall.CLOSE, made, 0);
            }
            return layers;
        }
    }

    private static long call(CallingProcess process, long number, long first, long second) {
        return process.call(number, new long[]{first, second, 0, 0, 0, 0});
    }
}
