package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.ipc.MessageQueue;
import org.udckpt.process.kinds.ipc.SemaphoreSet;
import org.udckpt.process.model.KernelObject;

/** Whose System V objects are, and what is refused of them; the program goes on unharmed. */
@Timeout(180)
class SystemVObjectsTest {
    private static final int IPC_RMID = 0, IPC_SET = 1, IPC_STAT = 2, SETVAL = 16, NEW = 03600, END = 2;
    private static final int FIRST_KEY = 0x7564, LAST_KEY = 0x7566, UNCHANGED = 0, SECOND_MS = 1100;

    private static long check(long result) {
        return LinuxError.check(result, "a call about System V objects");
    }

    private static long set(Target target) {
        return set(FIRST_KEY, target);
    }

    private static long set(int key, Target target) {
        return check(Syscall.call(Syscall.SEMGET, key << 16 | target.pid & 0xffff, 0, 0));
    }

    private static void refused(Target target, String words) throws Exception {
        CaptureRefused refused = assertThrows(CaptureRefused.class, () -> Capture.take(target.request()).close());
        assertTrue(refused.getMessage().contains(words), refused.getMessage());
        assertEquals("PASS", target.verdict().split(" ")[0]);
    }

    @Test
    void whatAStrangerUsesToo() throws Exception {
        try (Target target = Target.feature("sysv_sem", Target.LIBRARY)) {
            check(Syscall.call(Syscall.SEMCTL, set(target), END, SETVAL, UNCHANGED));
            refused(target, "is also used by process " + ProcessHandle.current().pid()
                    + ", which is not of the job");
        }
    }

    @Test
    void whatOnlyAStrangerUses() throws Exception {
        long set = check(Syscall.call(Syscall.SEMGET, 0, 1, NEW));
        long queue = check(Syscall.call(Syscall.MSGGET, 0, NEW));
        try (Target target = Target.feature("sysv_exec", Target.LIBRARY)) {
            check(Syscall.call(Syscall.SEMCTL, set, 0, SETVAL, 1));
            Scratch.data().set(JAVA_LONG, 0, 1);
            check(Syscall.call(Syscall.MSGSND, queue, Scratch.data().address(), 0, 0));
            try (Capture capture = Capture.take(target.request())) {
                List<KernelObject> objects = capture.image().objects();
                List<Integer> sets = objects.stream().filter(SemaphoreSet.class::isInstance)
                        .map(one -> ((SemaphoreSet) one).ipcId()).toList();
                assertTrue(sets.contains((int) set(LAST_KEY, target)) && !sets.contains((int) set), sets::toString);
                List<MessageQueue> queues = objects.stream().filter(MessageQueue.class::isInstance)
                        .map(MessageQueue.class::cast).toList();
                assertTrue(queues.stream().noneMatch(one -> one.ipcId() == queue), queues::toString);
                assertEquals(List.of("kept"), queues.stream().filter(one -> one.sender() == target.pid)
                        .map(one -> new String(one.messages(), 0, 4, StandardCharsets.US_ASCII))
                        .toList());
            }
            assertEquals("PASS", target.verdict());
        } finally {
            check(Syscall.call(Syscall.SEMCTL, set, 0, IPC_RMID));
            check(Syscall.call(Syscall.MSGCTL, queue, IPC_RMID));
        }
    }

    /** IPC_SET sets no value, but the kernel's time tells no difference. */
    @Test
    void valuesThatMayHaveBeenSetSinceSomethingIsToBeUndone() throws Exception {
        try (Target target = Target.feature("sysv_undo", Target.LIBRARY)) {
            Thread.sleep(SECOND_MS);
            MemorySegment status = Scratch.data();
            check(Syscall.call(Syscall.SEMCTL, set(target), 0, IPC_STAT, status.address()));
            check(Syscall.call(Syscall.SEMCTL, set(target), 0, IPC_SET, status.address()));
            refused(target, "was set since then (semctl(2))");
        }
    }

    @Test
    void whatNobodyCounts() throws Exception {
        try (Target target = Target.feature("sysv_undo", null)) {
            refused(target, "only the preloaded library counts");
        }
    }
}
