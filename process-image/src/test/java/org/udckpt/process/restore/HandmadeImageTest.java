package org.udckpt.process.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.pipe.Pipe;
import org.udckpt.process.kinds.pipe.PipeEnd;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Clocks;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.PeerCredentials;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.Zombie;
import org.udckpt.process.trace.BuildId;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;
import org.udckpt.process.trace.TracerThread;
import org.udckpt.process.trace.VectorLayouts;

/** The restorer alone: an image that was written by hand, of a program of a few instructions. */
@Timeout(180)
class HandmadeImageTest {
    private static final long CODE = 0x1000_0000L;
    private static final int PARENT = 5000;
    private static final int CHILD = 4321;
    /** Above the most that pid_max can be. */
    private static final int NO_NUMBER = 5_000_000;
    /** read(7, rsp, 3); exit_group(sum of what was read) */
    private static final byte[] PROGRAM = bytes(
            0xb8, 0, 0, 0, 0, 0xbf, 7, 0, 0, 0, 0x48, 0x89, 0xe6, 0xba, 3, 0, 0, 0, 0x0f, 0x05,
            0x0f, 0xb6, 0x3e, 0x0f, 0xb6, 0x46, 1, 0x01, 0xc7, 0x0f, 0xb6, 0x46, 2, 0x01, 0xc7,
            0xb8, 0xe7, 0, 0, 0, 0x0f, 0x05);

    @TempDir
    Path directory;

    /** The contents of one page of code; all else is zero. */
    private record Program(long id) implements MemorySource {
        @Override
        public boolean process() {
            return true;
        }

        @Override
        public long[] extents() {
            return new long[]{CODE, CODE + 4096};
        }

        @Override
        public void read(long offset, MemorySegment target) {
            target.fill((byte) 0);
            for (int i = 0; i < PROGRAM.length; i++) {
                if (i >= offset - CODE && i < offset - CODE + target.byteSize()) {
                    target.set(ValueLayout.JAVA_BYTE, i - (offset - CODE), PROGRAM[i]);
                }
            }
        }
    }

    @Test
    void aProcessAndItsChildRunFromTheirRegisters() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of(), "--restore", "0")) {
            JobImage image = image(shepherd, List.of());
            Map<Integer, Integer> pids =
                    Restorer.restore(image, List.of(new Program(PARENT), new Program(CHILD)), shepherd);
            assertEquals(List.of(PARENT, CHILD).stream().sorted().toList(), pids.keySet().stream().sorted().toList());
            String exit = shepherd.exit();
            // one of the two reads the three bytes 1, 2, 30; the other one sees the end of the pipe, and its own zeroed
            // stack
            assertTrue(exit.equals("exited " + pids.get(PARENT) + " " + (33 << 8))
                    || exit.equals("exited " + pids.get(PARENT) + " 0"), exit);
        }
    }

    @Test
    void aFailureLeavesNothingBehind() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of(), "--restore", "0")) {
            Zombie orphan = new Zombie(1, PARENT, PARENT, PARENT, "init", 0); // a number that the shepherd has
            JobImage image = image(shepherd, List.of(orphan));
            RestoreException failure = assertThrows(RestoreException.class,
                    () -> Restorer.restore(image, List.of(new Program(PARENT), new Program(CHILD)), shepherd));
            assertTrue(failure.getMessage().contains("fork process 1: EEXIST"), failure.getMessage());
            String exit = shepherd.exit();
            assertTrue(exit.endsWith(" 9"), exit);
            // A pid is taken until the last member of its session is reaped.
            String answer = "";
            for (int attempt = 0; attempt < 500 && !answer.startsWith("stub"); attempt++) {
                Thread.sleep(10);
                shepherd.tell("stub " + PARENT);
                answer = shepherd.answer();
            }
            assertTrue(answer.startsWith("stub " + PARENT), answer);
            assertTrue(shepherd.ask("stub " + CHILD) > 0, "the child's pid is free again");
        }
    }

    /** A socket's maker that has ended, with a number of a machine whose pid_max was larger than any is here. */
    @Test
    void aNumberThatNoProcessCanHaveIsSaidAndTheJobRuns() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of(), "--restore", "0")) {
            JobImage here = image(shepherd, List.of());
            Attribute maker = Attribute.of(AttributeKind.PEER_CREDENTIALS, PARENT, 0,
                    new PeerCredentials(2, NO_NUMBER, User.id(), 0, new int[0]).values());
            JobImage image = new JobImage(here.processes(), here.threads(), here.regions(), here.descriptors(),
                    here.objects(), here.timers(), here.zombies(), here.clocks(), here.vectors(), List.of(), List.of(),
                    List.of(), List.of(), List.of(), List.of(), List.of(), List.of(maker));
            Map<Integer, Integer> pids =
                    Restorer.restore(image, List.of(new Program(PARENT), new Program(CHILD)), shepherd);
            assertTrue(shepherd.exit().startsWith("exited " + pids.get(PARENT) + " "));
            assertEquals(List.of("process " + NO_NUMBER + ", which has left the job, created unix sockets of the job; "
                    + "its pid is above kernel.pid_max here, so SO_PEERCRED names another process as their creator"),
                    shepherd.warnings());
        }
    }

    @Test
    void aProcessThatNoNumberCanBeIsRefusedWithTheWayOut() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of(), "--restore", "0")) {
            shepherd.tell("stub " + NO_NUMBER);
            String answer = shepherd.answer();
            assertTrue(answer.startsWith("error stub " + NO_NUMBER) && answer.contains("raise kernel.pid_max"), answer);
        }
    }

    /** The last call of all: every process is complete and about to run. */
    private record FailsToGo(TestShepherd shepherd) implements RestoreTarget {
        @Override
        public void clock(long offsetNs) {
            shepherd.clock(offsetNs);
        }

        @Override
        public void last(int pid) {
            shepherd.last(pid);
        }

        @Override
        public int parent(int pid) {
            return shepherd.parent(pid);
        }

        @Override
        public int stub(int pid) {
            return shepherd.stub(pid);
        }

        @Override
        public void adopt(int pid, int hostPid) {
            shepherd.adopt(pid, hostPid);
        }

        @Override
        public int pmi(int rank, byte[] queued) {
            return shepherd.pmi(rank, queued);
        }

        @Override
        public void taken(int descriptor) {
            shepherd.taken(descriptor);
        }

        @Override
        public int lazy() {
            return shepherd.lazy();
        }

        @Override
        public void warn(String what) {
            System.out.println(what);
        }

        @Override
        public void go() {
            throw new IllegalStateException("the shepherd has lost its agent");
        }

        @Override
        public Path agentSocket() {
            return shepherd.agentSocket();
        }
    }

    @Test
    void nothingRunsWhenTheLastStepFails() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of(), "--restore", "0")) {
            JobImage image = image(shepherd, List.of());
            IllegalStateException failure = assertThrows(IllegalStateException.class,
                    () -> Restorer.restore(image, List.of(new Program(PARENT), new Program(CHILD)),
                            new FailsToGo(shepherd)));
            assertTrue(failure.getMessage().contains("lost its agent"), failure.getMessage());
            String exit = shepherd.exit();
            assertTrue(exit.endsWith(" 9"), "killed, and not ended by its own code: " + exit);
        }
    }

    @Test
    void anotherKernelIsRefusedByName() throws Exception {
        try (TestShepherd shepherd = TestShepherd.start(directory, List.of(), "--restore", "0")) {
            JobImage here = image(shepherd, List.of());
            List<ProcessState> processes = List.of(process(PARENT, 0, "00ff"), process(CHILD, PARENT, "00ff"));
            JobImage image = new JobImage(processes, here.threads(), here.regions(), here.descriptors(), here.objects(),
                    here.timers(), here.zombies(), here.clocks(), here.vectors());
            RestoreException failure = assertThrows(RestoreException.class,
                    () -> Restorer.restore(image, List.of(new Program(PARENT), new Program(CHILD)), shepherd));
            assertEquals(RestoreException.Reason.UNSUPPORTED, failure.reason());
            assertTrue(failure.getMessage().contains("process 5000 (handmade): this kernel's vDSO differs"),
                    failure.getMessage());
        }
    }

    @Test
    void aMissingFileIsNamedBeforeAnythingIsMade() {
        OpenFile file = new OpenFile(9, directory.resolve("gone").toString(), 0, 0, 10, 0100644, 0, 0, 0, 0);
        JobImage image = new JobImage(List.of(), List.of(), List.of(), List.of(), List.of(file), List.of(), List.of(),
                new Clocks(0, 0, 0), null);
        RestoreException failure =
                assertThrows(RestoreException.class, () -> Restorer.restore(image, List.of(), new FailsToGo(null)));
        assertEquals(RestoreException.Reason.FILE_CHANGED, failure.reason());
        assertTrue(failure.getMessage().contains("gone"), failure.getMessage());
    }

    @Test
    void aShrunkFileIsRefusedAndAGrownOneIsNotTouchedByTheCheck() throws Exception {
        Path log = Files.writeString(directory.resolve("log"), "0123456789");
        OpenFile shrunk = new OpenFile(9, log.toString(), 1, 0, 11, 0100644, 0, 0, 0, 0);
        JobImage image = new JobImage(List.of(), List.of(), List.of(), List.of(), List.of(shrunk), List.of(), List.of(),
                new Clocks(0, 0, 0), null);
        RestoreException failure =
                assertThrows(RestoreException.class, () -> Restorer.restore(image, List.of(), new FailsToGo(null)));
        assertTrue(failure.getMessage().contains("has 10 bytes; it had 11"), failure.getMessage());
        assertEquals("0123456789", Files.readString(log));
    }

    @Test
    void aLibraryThatWasReplacedIsNamed() throws Exception {
        Path library = Files.writeString(directory.resolve("libnew.so"), "new");
        MappedFile old = new MappedFile(9, library.toString(), 3, 12345);
        JobImage image = new JobImage(List.of(), List.of(), List.of(), List.of(), List.of(old), List.of(), List.of(),
                new Clocks(0, 0, 0), null);
        RestoreException failure =
                assertThrows(RestoreException.class, () -> Restorer.restore(image, List.of(), new FailsToGo(null)));
        assertTrue(failure.getMessage().contains("libnew.so"), failure.getMessage());
        assertEquals(RestoreException.Reason.FILE_CHANGED, failure.reason());
    }

    /** Ports are had before there is a clock or a process: what is waited for there, the job does not see. */
    @Test
    void aPortThatIsTakenIsFoundBeforeTheClockIsSet() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            byte[] name = {2, 0, (byte) (other.getLocalPort() >> 8), (byte) other.getLocalPort(), 127, 0, 0, 1, 0, 0, 0,
                    0, 0, 0, 0, 0};
            TcpSocket listener = new TcpSocket(3, 2, 2, TcpSocket.TcpState.LISTENING, 0, name, new byte[0], new byte[0],
                    0, 1, new int[0], 0, 0, -1, 0, 0, "", "");
            JobImage image = new JobImage(List.of(process(PARENT, 0, "")), List.of(), List.of(),
                    List.of(new Descriptor(PARENT, 5, false, 3)), List.of(), List.of(), List.of(),
                    new Clocks(0, 0, 0), null, List.of(listener));
            RestoreException failure =
                    assertThrows(RestoreException.class, () -> Restorer.restore(image, List.of(), new FailsToGo(null)));
            assertTrue(
                    failure.getMessage().contains(
                            "process " + PARENT + " (handmade): bind TCP socket 127.0.0.1:" + other.getLocalPort()),
                    failure.getMessage());
        }
    }

    private static JobImage image(TestShepherd shepherd, List<Zombie> zombies) {
        int model = shepherd.stub(7777);
        StubLayout layout = StubLayout.of(model);
        byte[] xstate = xstate(model);
        String build = vdsoBuild(model, StubLayout.vdso(layout.regions()).orElseThrow());
        List<Region> regions = new ArrayList<>();
        List<ProcessState> processes = List.of(process(PARENT, 0, build), process(CHILD, PARENT, build));
        for (ProcessState process : processes) {
            regions.add(new Region(process.pid(), CODE, CODE + 4096, "r-xp", 0, "", "rd ex mr mw me", 0));
            regions.add(new Region(process.pid(), 0x2000_0000L, 0x2001_0000L, "rw-p", 0, "[stack]", "rd wr mr mw me gd",
                    0));
            for (Region own : layout.regions()) {
                if (StubLayout.movable(own)) {
                    regions.add(new Region(process.pid(), own.start() - 0x1000_0000L, own.end() - 0x1000_0000L,
                            own.permissions(), 0, own.path(), "", 0));
                }
            }
        }
        List<ThreadState> threads = processes.stream().map(p -> thread(p.pid(), xstate)).toList();
        List<KernelObject> objects = List.of(new Pipe(1, null, 4096, bytes(1, 2, 30)), new PipeEnd(2, 1, false, 0));
        List<Descriptor> descriptors = List.of(new Descriptor(PARENT, 7, false, 2), new Descriptor(CHILD, 7, false, 2));
        return new JobImage(processes, threads, regions, descriptors, objects, List.of(), zombies, new Clocks(0, 0, 0),
                VectorLayouts.here(xstate));
    }

    private static ProcessState process(int pid, int parent, String vdsoBuild) {
        long[] map = {CODE, CODE + 4096, CODE, CODE, CODE + 0x100000, CODE + 0x100000, 0x2000_f000L, 0x2000_f000L,
                0x2000_f000L, 0x2000_f000L, 0x2000_f000L};
        long[] limits = new long[32];
        java.util.Arrays.fill(limits, -1);
        limits[14] = limits[15] = 1024; // open files may not be infinite
        return new ProcessState(pid, parent, PARENT, PARENT, 0, "/usr/bin/true", "/", 022, "handmade", new byte[16],
                map, new byte[65 * 32], new byte[0],
                new long[6], new long[0], 0, 0, true, false, false, new int[0], new long[0], false, 50_000, false,
                vdsoBuild, 0, 0, 0);
    }

    private static ThreadState thread(int pid, byte[] xstate) {
        Registers registers =
                new Registers().set(Registers.RIP, CODE).set(Registers.RSP, 0x2000_f000L).set(Registers.CS, 0x33)
                        .set(Registers.SS, 0x2b).set(Registers.EFLAGS, 0x202).set(Registers.ORIG_RAX, -1);
        return new ThreadState(pid, pid, registers.toBytes(), xstate, 0, new byte[0], 0, 0, 0, 0, 2, 0, 0, 0, 0, 0,
                "handmade", 0, 0, 0, new byte[0], 0);
    }

    private static String vdsoBuild(int hostPid, Region vdso) {
        try (ProcessMemory memory = new ProcessMemory(hostPid)) {
            return BuildId.of(memory.readBytes(vdso.start(), (int) vdso.size()));
        }
    }

    private static byte[] xstate(int hostPid) {
        try (TracerThread tracer = new TracerThread("test")) {
            return tracer.call(() -> {
                Ptrace.seize(hostPid, 0);
                Ptrace.interrupt(hostPid);
                Tracee.awaitInterrupt(hostPid);
                return Ptrace.xstate(hostPid);
            });
        }
    }

    private static byte[] bytes(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            bytes.put((byte) value);
        }
        return bytes.array();
    }
}
