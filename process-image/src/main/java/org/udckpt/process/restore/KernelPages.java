package org.udckpt.process.restore;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.trace.BuildId;

/**
 * The kernel's own mappings in a tracee: the vDSO and its data. Under the kernel of the checkpoint they are moved to
 * where the job's were. Under another one they are moved out of the job's way, and at the old vDSO's place, where the
 * job's pointers lead, comes ordinary memory: the old code, whose functions jump to the running kernel's
 * ({@link VdsoStandIn}).
 */
final class KernelPages {
    private static final int MREMAP_MAYMOVE_FIXED = 3, PROT_READ_EXEC = 5, PRIVATE_ANONYMOUS_NOREPLACE = 0x100022;

    private final Tracee tracee;
    private final ProcessState process;
    private final List<Region> then;
    private byte[] running;
    private long runningAt;
    private long parked;
    private long parkedBytes;
    private boolean foreign;
    private VdsoStandIn standIn;

    KernelPages(Tracee tracee, ProcessState process, List<Region> regions) {
        this.tracee = tracee;
        this.process = process;
        this.then = regions.stream().filter(StubLayout::movable).toList();
    }

    /** @param own the kernel's mappings in the stub; calls are injected in its vDSO, so it stays mapped all the time */
    void place(List<Region> own) {
        Region vdso = StubLayout.vdso(own).orElseThrow();
        running = tracee.read(vdso.start(), (int) vdso.size());
        foreign = !BuildId.of(running).equals(process.vdsoBuild()) || then.size() != own.size()
                || own.stream().anyMatch(region -> counterpart(region) == null);
        long park = parking(tracee);
        parked = park;
        parkedBytes = own.getLast().end() - own.getFirst().start();
        Batch batch = new Batch(tracee);
        park(batch, tracee, own);
        runningAt = park + (vdso.start() - own.getFirst().start());
        if (!foreign) {
            for (Region region : own) {
                move(batch, region, park + (region.start() - own.getFirst().start()), counterpart(region).start());
            }
        }
        batch.run();
        tracee.instruction(
                tracee.instruction() - vdso.start() + (foreign ? runningAt : counterpart(vdso).start()));
    }

    /** Moves them to where nothing of the job is; again, it does nothing. */
    static void park(Tracee tracee, List<Region> own) {
        Batch batch = new Batch(tracee);
        park(batch, tracee, own);
        batch.run();
        StubLayout.vdso(own).ifPresent(vdso -> tracee.instruction(tracee.instruction() - vdso.start()
                + parking(tracee) + (vdso.start() - own.getFirst().start())));
    }

    private static void park(Batch batch, Tracee tracee, List<Region> own) {
        for (Region region : own) {
            move(batch, region, region.start(), parking(tracee) + (region.start() - own.getFirst().start()));
        }
    }

    private static long parking(Tracee tracee) {
        return tracee.scratch() + FreeRange.BYTES / 2;
    }

    private static void move(Batch batch, Region region, long from, long to) {
        if (from != to) {
            batch.add(() -> "move " + region.path(), Syscall.MREMAP, from, region.size(), region.size(),
                    MREMAP_MAYMOVE_FIXED, to);
        }
    }

    private Region counterpart(Region own) {
        return then.stream().filter(r -> r.path().equals(own.path()) && r.size() == own.size()).findFirst()
                .orElse(null);
    }

    /**
     * Under another kernel: makes what will stand in for the old one's vDSO. A process that had none has no pointers
     * into one.
     */
    void prepare(MemorySource image, List<ThreadState> threads) {
        Region old = StubLayout.vdso(then).orElse(null);
        if (foreign && old != null) {
            standIn = new VdsoStandIn(tracee, old, read(image, old), running, runningAt);
            threads.forEach(standIn::refuseInside);
        }
    }

    /** Whether there is other code now at the addresses of the vDSO's. */
    boolean foreign() {
        return standIn != null;
    }

    /** @param who the subject of the refusal */
    void refuseInside(long instruction, String who) {
        if (standIn != null) {
            standIn.refuseInside(instruction, who);
        }
    }

    void map() {
        if (standIn != null) {
            Region old = StubLayout.vdso(then).orElseThrow();
            tracee.call("map a stand-in for the vDSO of the checkpoint's kernel", Syscall.MMAP, old.start(), old.size(),
                    PROT_READ_EXEC, PRIVATE_ANONYMOUS_NOREPLACE, -1, 0);
            tracee.memory().writeBytes(old.start(), standIn.bytes());
        }
    }

    /**
     * A process that has unmapped them gets none. Injected calls are made in their code, so no other call can come
     * after this one, whose end nobody runs.
     */
    void leave() {
        if (then.isEmpty()) {
            tracee.call("unmap the kernel's pages", Syscall.MUNMAP, parked, parkedBytes);
        }
    }

    private byte[] read(MemorySource image, Region old) {
        long[] extents = image.extents();
        for (int i = 0; i < extents.length; i += 2) {
            if (extents[i] <= old.start() && old.end() <= extents[i + 1]) {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment bytes = arena.allocate(old.size(), 4096);
                    image.read(old.start(), bytes);
                    return bytes.toArray(JAVA_BYTE);
                }
            }
        }
        throw tracee.unsupported("this kernel's vDSO differs from the checkpoint's (build " + BuildId.of(running)
                + " now, " + process.vdsoBuild() + " at the checkpoint), and the image, written by an older udckpt, "
                + "has no copy of it; restart under the kernel version that the job was checkpointed on");
    }
}
