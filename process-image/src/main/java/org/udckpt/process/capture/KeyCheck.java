package org.udckpt.process.capture;

import org.udckpt.linux.Syscall;

/**
 * Refuses memory protection keys (pkeys(7)) that a process has allocated and not given to memory: what has one is known
 * by its flags. The kernel does not tell which are allocated, so a snapshot allocates all that are left.
 */
final class KeyCheck {
    private static final int PKEY_ALLOC = 330, PKEY_FREE = 331, PROT_EXEC = 4, PRIVATE_ANONYMOUS = 0x22, PAGE = 4096;
    /**
     * Of a program that has just been started: 16 but key 0, which is everybody's, and the one for memory that is for
     * execution only.
     */
    private static final int FREE = 14;
    private static final boolean HERE = here();

    private KeyCheck() {}

    private static boolean here() {
        long key = Syscall.call(PKEY_ALLOC, 0, 0);
        return key > 0 && Syscall.call(PKEY_FREE, key) == 0;
    }

    static void refuse(TracedProcess process, SnapshotCalls calls) {
        if (!HERE) {
            return;
        }
        calls.add(Syscall.MMAP, 0, PAGE, PROT_EXEC, PRIVATE_ANONYMOUS, -1, 0); // takes that one, if it is not taken yet
        int[] keys = new int[FREE];
        for (int i = 0; i < FREE; i++) {
            keys[i] = calls.add(PKEY_ALLOC, 0, 0);
        }
        calls.run();
        for (int key : keys) {
            if (calls.result(key) < 0) {
                throw process.refuse(
                        "it has allocated memory protection keys (pkey_alloc(2)), which cannot be checkpointed");
            }
        }
    }
}
