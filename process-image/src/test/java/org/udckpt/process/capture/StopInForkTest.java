package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.FileCut;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.Outside;
import org.udckpt.process.kinds.mount.JobMounts;
import org.udckpt.process.trace.TracerThread;

/** A job that gets SIGSTOP while it is forked is stopped afterwards. */
@Timeout(120)
class StopInForkTest {
    private static final int SIGCONT = 18, SIGSTOP = 19;

    @Test
    void theStopComesAfterTheFork() throws Exception {
        try (Target target = Target.feature("threads", Target.LIBRARY)) {
            CaptureRequest request = target.request();
            ObjectTable table = new ObjectTable(new Outside(request.closesOutside()));
            RankCapture rank = new RankCapture(request.roots().getFirst(), request.calls(), request.tracking());
            try (FileCut files = new FileCut(request.files(), table::newId, GrowingFiles.read(request));
                    JobMounts mounts = new JobMounts()) {
                await(rank.stop());
                await(rank.read(mounts));
                await(rank.ask(new MemoryObjects(table, files), mounts));
                LinuxError.check(Syscall.call(Syscall.KILL, target.pid, SIGSTOP), "kill");
                await(rank.fork());
                await(rank.resume());
            } finally {
                rank.abandon();
            }
            for (int round = 0; round < 2000 && !state(target).equals("T"); round++) {
                Thread.sleep(5);
            }
            assertEquals("T", state(target));
            LinuxError.check(Syscall.call(Syscall.KILL, target.pid, SIGCONT), "kill");
            String verdict = target.verdict();
            assertTrue(verdict.startsWith("PASS"), verdict);
        }
    }

    private static String state(Target target) {
        return Proc.stat(target.pid)[0];
    }

    private static void await(CompletableFuture<Long> phase) {
        TracerThread.join(phase);
    }
}
