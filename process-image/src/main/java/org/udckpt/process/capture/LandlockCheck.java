package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.KCMP_VM;
import static org.udckpt.linux.LinuxConstants.PR_SET_NO_NEW_PRIVS;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.udckpt.linux.Landlock;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * Refuses processes that have put themselves into a Landlock domain: its rules cannot be read, so a restart would set
 * the process free. The kernel does not tell who is in one, but how many more can be laid around: a snapshot, which is
 * in the process's domains and ends soon, is tried. The domains of a thread that is not the main one are not seen.
 */
final class LandlockCheck {
    private static final int CREATE_RULESET = 444, RESTRICT_SELF = 446, GET_VERSION = 1;
    /** LANDLOCK_MAX_NUM_LAYERS, security/landlock/limits.h. */
    private static final int MOST_LAYERS = 16;
    /** A right that a snapshot does not use, to be handled by the layers: LANDLOCK_ACCESS_FS_MAKE_BLOCK. */
    private static final long RIGHT = 1 << 11;
    private static final int E2BIG = 7;
    private static final boolean KNOWN = Syscall.call(CREATE_RULESET, 0, 0, GET_VERSION) > 0;

    private LandlockCheck() {}

    /**
     * The last question to a snapshot: it is in layers of its own afterwards. It has no descriptors, so the first that
     * it makes is 0.
     */
    static void refuse(TracedProcess process, SnapshotCalls calls) {
        if (!KNOWN) {
            return;
        }
        long ruleset = calls.bytes(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(RIGHT).array());
        // no domain lets look at a process outside of it
        int reaches = calls.add(Syscall.KCMP, process.namespacePid, process.originPid, KCMP_VM);
        calls.add(Syscall.PRCTL, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        int made = calls.add(CREATE_RULESET, ruleset, 8, 0);
        int[] layers = new int[MOST_LAYERS];
        for (int i = 0; i < MOST_LAYERS; i++) {
            layers[i] = calls.add(RESTRICT_SELF, 0, 0);
        }
        calls.add(Syscall.CLOSE, 0);
        calls.run();
        if (calls.result(made) != 0) {
            return; // forbidden here: nobody can be in one
        }
        if (process.forksApart()) { // where no process outside of it has a number
            long more = Arrays.stream(layers).filter(layer -> calls.result(layer) == 0).count();
            if (more < Landlock.room()) {
                throw refusal(process);
            }
            return;
        }
        for (int layer : layers) {
            if (calls.result(layer) == -E2BIG && calls.result(reaches) == -LinuxError.EPERM) {
                throw refusal(process);
            }
        }
    }

    private static CaptureRefused refusal(TracedProcess process) {
        return process.refuse("it is in a Landlock domain (landlock_restrict_self(2)), whose rules cannot be "
                + "read from the kernel and restored");
    }
}
