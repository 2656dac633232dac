package org.udckpt.process.feature;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.VectorLayout;
import org.udckpt.process.trace.ElfSymbols;

/** Changes checkpoints of this machine into what another kernel or processor would have left. */
final class OtherMachine {
    private static final String BUILD = "00ff";
    private static final byte INT3 = (byte) 0xcc;
    private static final int IN_USE = 512;

    private OtherMachine() {}

    /** Another build of the vDSO, of whose functions every instruction is a trap: a program that runs one dies. */
    static SavedJob kernel(SavedJob saved) {
        JobImage image = saved.image();
        List<ProcessState> processes = image.processes().stream().map(OtherMachine::otherBuild).toList();
        List<MemorySource> memory = saved.memory().stream()
                .map(source -> source.process() ? new TrappedVdso(source, vdso(image, (int) source.id())) : source)
                .toList();
        return saved.as(new JobImage(processes, image.threads(), image.regions(), image.descriptors(), image.objects(),
                image.timers(), image.zombies(), image.clocks(), image.vectors()), memory);
    }

    static SavedJob threads(SavedJob saved, VectorLayout vectors, UnaryOperator<ThreadState> change) {
        return threads(saved, vectors, change, saved.memory());
    }

    static SavedJob threads(SavedJob saved, VectorLayout vectors, UnaryOperator<ThreadState> change,
            List<MemorySource> memory) {
        JobImage image = saved.image();
        List<ThreadState> threads = image.threads().stream().map(change).toList();
        return saved.as(new JobImage(image.processes(), threads, image.regions(), image.descriptors(), image.objects(),
                image.timers(), image.zombies(), image.clocks(), vectors), memory);
    }

    static Region vdso(JobImage image, int pid) {
        return image.regions().stream().filter(r -> r.pid() == pid && r.path().equals("[vdso]")).findFirst()
                .orElseThrow();
    }

    private static ProcessState otherBuild(ProcessState p) {
        return new ProcessState(p.pid(), p.parentPid(), p.processGroup(), p.session(), p.rank(), p.executable(),
                p.workingDirectory(), p.umask(), p.name(), p.auxv(), p.memoryMap(),
                p.signalActions(), p.pendingSignals(), p.intervalTimers(), p.limits(), p.personality(),
                p.parentDeathSignal(), p.dumpable(), p.childSubreaper(), p.noNewPrivileges(),
                p.ownedDescriptors(), p.ownedRanges(), p.jobStopped(), p.timerSlackNs(), p.hugePagesDisabled(), BUILD,
                p.barriers(), p.vectorPermissions(), p.oomAdjustment());
    }

    /** Areas of other sizes with the same components elsewhere, 64 bytes apart, and without AMX. */
    static VectorLayout layout(VectorLayout here) {
        long components = here.components() & ~(3L << 17);
        int[] offsets = new int[here.offsets().length];
        int[] sizes = new int[here.sizes().length];
        int end = VectorLayout.HEADER_END;
        for (int i = 2; i < sizes.length; i++) {
            if ((components >>> i & 1) != 0) {
                offsets[i] = end + 64;
                sizes[i] = here.sizes()[i];
                end = (offsets[i] + sizes[i] + 63) / 64 * 64;
            }
        }
        return new VectorLayout(end, components, offsets, sizes, here.compact());
    }

    /** The same components in the opposite order: no area, also none on a stack, has to be larger. */
    static VectorLayout reversed(VectorLayout here) {
        long components = here.components() & ~(3L << 17);
        int[] offsets = new int[here.offsets().length];
        int[] sizes = new int[here.sizes().length];
        int end = VectorLayout.HEADER_END;
        for (int i = sizes.length - 1; i >= 2; i--) {
            if ((components >>> i & 1) != 0) {
                offsets[i] = end;
                sizes[i] = here.sizes()[i];
                end += (sizes[i] + 63) / 64 * 64;
            }
        }
        return new VectorLayout(here.bytes(), components, offsets, sizes, here.compact());
    }

    /** With all vector state on stacks, below signal handlers, moved. */
    static List<MemorySource> frames(SavedJob saved, VectorLayout from, VectorLayout to) {
        return saved.memory().stream().map(source -> source.process() ? new MovedFrames(source, from, to) : source)
                .toList();
    }

    static byte[] moved(byte[] xstate, VectorLayout from, VectorLayout to) {
        byte[] area = new byte[to.bytes()];
        System.arraycopy(xstate, 0, area, 0, VectorLayout.HEADER_END);
        for (int i = 2; i < to.sizes().length; i++) {
            System.arraycopy(xstate, from.offsets()[i], area, to.offsets()[i], to.sizes()[i]);
        }
        return area;
    }

    /** With one component more, at the end. */
    static VectorLayout with(int component, VectorLayout here) {
        int[] offsets = here.offsets().clone();
        int[] sizes = here.sizes().clone();
        offsets[component] = (here.bytes() + 63) / 64 * 64;
        sizes[component] = 64;
        return new VectorLayout(offsets[component] + 64, here.components() | 1L << component, offsets, sizes,
                here.compact());
    }

    /** That component marked as in use, and full of {@code content}. */
    static byte[] using(byte[] xstate, int component, VectorLayout there, byte content) {
        byte[] area = Arrays.copyOf(xstate, there.bytes());
        Arrays.fill(area, there.offsets()[component], there.bytes(), content);
        ByteBuffer bytes = ByteBuffer.wrap(area).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(IN_USE, bytes.getLong(IN_USE) | 1L << component);
        return area;
    }

    /** Vector state on stacks is known by its two marks (struct _fpx_sw_bytes, asm/sigcontext.h). */
    static final class MovedFrames implements MemorySource {
        private static final int MAGIC1 = 0x46505853, MAGIC2 = 0x46505845;
        private final MemorySource image;
        private final Map<Long, byte[]> frames = new TreeMap<>();

        MovedFrames(MemorySource image, VectorLayout from, VectorLayout to) {
            this.image = image;
            long[] extents = image.extents();
            for (int i = 0; i < extents.length; i += 2) {
                byte[] bytes = new byte[(int) (extents[i + 1] - extents[i])];
                MemorySegment.copy(read(image, extents[i], bytes.length), ValueLayout.JAVA_BYTE, 0, bytes, 0,
                        bytes.length);
                ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
                for (int at = 0; at + VectorLayout.HEADER_END <= bytes.length; at += 64) {
                    int size = words.getInt(at + 480);
                    boolean frame = words.getInt(at + 464) == MAGIC1 && size >= VectorLayout.HEADER_END
                            && at + size + 4 <= bytes.length && words.getInt(at + size) == MAGIC2;
                    if (frame) {
                        byte[] area = Arrays.copyOfRange(bytes, at, at + from.bytes());
                        frames.put(extents[i] + at, Arrays.copyOf(moved(area, from, to), size));
                    }
                }
            }
        }

        private static MemorySegment read(MemorySource image, long start, int bytes) {
            MemorySegment target = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(bytes));
            image.read(start, target);
            return target;
        }

        int count() {
            return frames.size();
        }

        @Override
        public long id() {
            return image.id();
        }

        @Override
        public boolean process() {
            return true;
        }

        @Override
        public long[] extents() {
            return image.extents();
        }

        @Override
        public void read(long offset, MemorySegment target) {
            image.read(offset, target);
            frames.forEach((address, bytes) -> {
                for (int i = 0; i < bytes.length; i++) {
                    long at = address + i - offset;
                    if (at >= 0 && at < target.byteSize()) {
                        target.set(ValueLayout.JAVA_BYTE, at, bytes[i]);
                    }
                }
            });
        }
    }

    private record TrappedVdso(MemorySource image, Region vdso) implements MemorySource {
        @Override
        public long id() {
            return image.id();
        }

        @Override
        public boolean process() {
            return true;
        }

        @Override
        public long[] extents() {
            return image.extents();
        }

        @Override
        public void read(long offset, MemorySegment target) {
            image.read(offset, target);
            if (offset == vdso.start() && target.byteSize() == vdso.size()) { // the restorer reads it as a whole
                Map<String, ElfSymbols.Function> functions =
                        ElfSymbols.functions(target.toArray(ValueLayout.JAVA_BYTE), "the vDSO");
                functions.values().forEach(f -> target.asSlice(f.value(), f.size()).fill(INT3));
            }
        }
    }
}
