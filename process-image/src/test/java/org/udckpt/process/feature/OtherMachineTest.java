package org.udckpt.process.feature;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.VectorLayout;
import org.udckpt.process.restore.RestoreException;
import org.udckpt.process.trace.ElfSymbols;
import org.udckpt.process.trace.Registers;

/** Checkpoints that were taken under another kernel, or on another processor. */
@Timeout(180)
class OtherMachineTest {
    private static final int ATTEMPTS = 20;

    @TempDir
    Path directory;
    private final Installation installation = Installation.built();
    private ShepherdProcess shepherd;
    private Path work;
    private int pid;
    private int restarts;

    @AfterEach
    void end() throws Exception {
        if (shepherd != null) {
            shepherd.close();
        }
    }

    @Test
    void clocksGoOnUnderAnotherKernelAndOneAfterThat() throws Exception {
        start("vdso_time");
        long first;
        try (SavedJob saved = captureOutsideTheVdso()) {
            first = vdso(saved).start();
            restart(OtherMachine.kernel(saved));
        }
        assertJumps(first);
        Thread.sleep(100);
        long second;
        try (SavedJob saved = captureOutsideTheVdso()) {
            second = vdso(saved).start();
            assertNotEquals(first, second, "the running kernel's own is elsewhere");
            restart(OtherMachine.kernel(saved));
        }
        assertJumps(first);
        assertJumps(second);
        Thread.sleep(100);
        try (SavedJob saved = SavedJob.capture(pid, shepherd)) {
            restart(saved);
        }
        assertJumps(first);
        finish();
    }

    @Test
    void aThreadInTheMiddleOfTheOtherKernelsCodeIsRefused() throws Exception {
        start("pipe_data");
        try (SavedJob saved = SavedJob.capture(pid, shepherd)) {
            long vdso = vdso(saved).start();
            SavedJob inside = OtherMachine.threads(OtherMachine.kernel(saved), saved.image().vectors(),
                    thread -> at(thread, vdso + 64));
            RestoreException refusal = assertThrows(RestoreException.class, () -> restart(inside));
            assertEquals(RestoreException.Reason.UNSUPPORTED, refusal.reason());
            assertTrue(refusal.getMessage().contains("in the middle of the vDSO"), refusal.getMessage());
        }
    }

    @Test
    void vectorRegistersAreCarriedOverToAnotherLayout() throws Exception {
        start("avx_state");
        try (SavedJob saved = SavedJob.capture(pid, shepherd)) {
            VectorLayout here = saved.image().vectors();
            VectorLayout there = OtherMachine.layout(here);
            assertFalse(here.same(there));
            restart(OtherMachine.threads(saved, there,
                    thread -> thread.withXstate(OtherMachine.moved(thread.xstate(), here, there))));
        }
        try (SavedJob saved = SavedJob.capture(pid, shepherd)) {
            restart(saved);
        }
        finish();
    }

    @Test
    void vectorRegistersBelowASignalHandlerAreCarriedOverToo() throws Exception {
        start("handler_vectors");
        for (int incarnation = 0; incarnation < 2; incarnation++) {
            assertFalse(shepherd.exited(pid), shepherd.printed());
            try (SavedJob saved = SavedJob.capture(pid, shepherd)) {
                VectorLayout here = saved.image().vectors();
                VectorLayout there = OtherMachine.reversed(here);
                List<MemorySource> memory = OtherMachine.frames(saved, here, there);
                assertTrue(((OtherMachine.MovedFrames) memory.getFirst()).count() > 0,
                        "a handler has run, so its frame is on its stack");
                restart(OtherMachine.threads(saved, there,
                        thread -> thread.withXstate(OtherMachine.moved(thread.xstate(), here, there)), memory));
            }
            Thread.sleep(100);
        }
        finish();
    }

    @Test
    void aVectorComponentThatThisProcessorLacksIsRefusedUnlessItIsEmpty() throws Exception {
        start("avx_state");
        try (SavedJob saved = SavedJob.capture(pid, shepherd)) {
            VectorLayout here = saved.image().vectors();
            int missing = 19;
            while (here.has(missing)) {
                missing++;
            }
            int component = missing;
            VectorLayout there = OtherMachine.with(component, here);
            SavedJob more = OtherMachine.threads(saved, there,
                    thread -> thread.withXstate(OtherMachine.using(thread.xstate(), component, there, (byte) 1)));
            RestoreException refusal = assertThrows(RestoreException.class, () -> restart(more));
            assertEquals(RestoreException.Reason.UNSUPPORTED, refusal.reason());
            assertTrue(refusal.getMessage().contains("XSAVE component " + component), refusal.getMessage());
            restart(OtherMachine.threads(saved, there,
                    thread -> thread.withXstate(OtherMachine.using(thread.xstate(), component, there, (byte) 0))));
        }
        finish();
    }

    private void start(String program) throws Exception {
        work = Files.createDirectory(directory.resolve("work"));
        shepherd = new ShepherdProcess(installation.shepherd(), directory.resolve("s"), directory.resolve("output"));
        pid = shepherd.spawn(directory.resolve("spec"), work,
                List.of(installation.program(program).toString(), work.toString()), installation.environment());
        while (!Files.exists(work.resolve("ready"))) {
            assertFalse(shepherd.exited(pid), shepherd.printed());
            Thread.sleep(10);
        }
    }

    /**
     * The capture does what it can (VdsoExit), but these threads call nothing else, and other processes may have the
     * processors.
     */
    private SavedJob captureOutsideTheVdso() throws Exception {
        for (int attempt = 1;; attempt++) {
            SavedJob saved = SavedJob.capture(pid, shepherd);
            Region vdso = vdso(saved);
            boolean inside =
                    saved.image().threads().stream().map(thread -> Registers.of(thread.registers()).get(Registers.RIP))
                            .anyMatch(rip -> rip >= vdso.start() && rip < vdso.end());
            if (!inside) {
                return saved;
            }
            saved.close();
            assertTrue(attempt < ATTEMPTS, "a thread is always in the vDSO");
            Thread.sleep(20);
        }
    }

    private static ThreadState at(ThreadState t, long address) {
        byte[] registers = Registers.of(t.registers()).set(Registers.RIP, address).toBytes();
        return new ThreadState(t.pid(), t.tid(), registers, t.xstate(), t.signalMask(), t.pendingSignals(),
                t.robustList(), t.robustListLength(), t.clearChildTid(), t.altStackPointer(),
                t.altStackFlags(), t.altStackSize(), t.rseqAddress(), t.rseqSize(), t.rseqSignature(), t.rseqFlags(),
                t.name(), t.policy(), t.priority(), t.nice(), t.affinity(), t.ioPriority());
    }

    private static Region vdso(SavedJob saved) {
        return OtherMachine.vdso(saved.image(), saved.image().processes().getFirst().pid());
    }

    private void restart(SavedJob saved) throws Exception {
        shepherd.close(); // kill -9 of all that runs below it
        shepherd = saved.newShepherd(installation.shepherd(), directory.resolve("s" + ++restarts),
                directory.resolve("output"));
        pid = saved.restore(shepherd);
    }

    /**
     * All functions of the vDSO that was at {@code address} are a jump now, to the same function of one that is
     * elsewhere.
     */
    private void assertJumps(long address) throws Exception {
        try (ProcessMemory memory = new ProcessMemory(pid)) {
            Map<String, ElfSymbols.Function> functions =
                    ElfSymbols.functions(memory.readBytes(address, size(address)), "the stand-in");
            assertTrue(functions.containsKey("__vdso_clock_gettime"), functions.toString());
            functions.forEach((name, function) -> {
                if (!name.contains("sgx")) {
                    ByteBuffer head = ByteBuffer.wrap(memory.readBytes(address + function.value(), 14))
                            .order(ByteOrder.LITTLE_ENDIAN);
                    assertEquals(0x25ff, head.getShort(0), name);
                    long target = head.getLong(6);
                    assertNotEquals(address, target - function.value(), name);
                    assertEquals(0x464c457f, ByteBuffer.wrap(memory.readBytes(target - function.value(), 4))
                            .order(ByteOrder.LITTLE_ENDIAN).getInt(), name);
                }
            });
        }
    }

    private int size(long address) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/maps"))) {
            String[] range = line.substring(0, line.indexOf(' ')).split("-");
            if (Long.parseUnsignedLong(range[0], 16) == address) {
                return (int) (Long.parseUnsignedLong(range[1], 16) - address);
            }
        }
        throw new AssertionError("nothing is mapped at 0x" + Long.toHexString(address));
    }

    private void finish() throws Exception {
        assertFalse(Files.exists(work.resolve("result")), shepherd.printed());
        Files.createFile(work.resolve("finish"));
        assertEquals(0, shepherd.awaitExit(pid, 40), shepherd.printed());
        assertEquals("PASS\n", Files.readString(work.resolve("result")));
    }
}
