package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.MADV_DONTNEED;
import static org.udckpt.linux.LinuxConstants.MAP_ANONYMOUS;
import static org.udckpt.linux.LinuxConstants.MAP_FIXED_NOREPLACE;
import static org.udckpt.linux.LinuxConstants.MAP_NORESERVE;
import static org.udckpt.linux.LinuxConstants.MAP_PRIVATE;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MappingFlags;
import org.udckpt.linux.Syscall;
import org.udckpt.process.inherit.Inherited;
import org.udckpt.process.kinds.base.Struct;
import org.udckpt.process.kinds.memory.SharedMemoryKind;
import org.udckpt.process.model.AddressRanges;
import org.udckpt.process.model.GuardPages;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.VmFlags;

/** Gives a tracee the mappings of its process, without their contents. */
final class AddressSpace {
    private static final int PR_SET_MM = 35, PR_SET_MM_MAP = 14, PROGRAM_TRIES = 200;
    private static final long PROGRAM_WAIT_NS = 5_000_000;
    private static final int MAP_SHARED = 1, MAP_GROWSDOWN = 0x100;
    private static final int MAP_HUGETLB = 0x40000, MAP_DROPPABLE = 8;
    /** smaps' VmFlags and the madvise(2) that sets them. */
    static final Map<String, Integer> ADVICE =
            Map.of("hg", 14, "nh", 15, "dc", 10, "wf", 18, "dd", 16, "mg", 12, "sr", 2, "rr", 1);
    private static final int MADV_GUARD_INSTALL = 102; // Linux 6.13
    private static final int MSEAL = 462;

    private final Tracee tracee;
    private final ProcessState process;
    private final List<Region> regions;
    private final List<GuardPages> guards;
    private final KernelPages kernel;
    private final Handles handles;
    private final Map<Long, SharedMemory> shared;
    private final NamedFiles files;
    private final Inherited inherited;
    private final AttachedSegments segments;
    private final Map<String, Long> open = new HashMap<>();
    /** Descriptor of the program, until {@link #describe}; -1: the program is to be opened by its name. */
    private long program = -1;

    AddressSpace(Tracee tracee, ProcessState process, List<Region> regions, List<GuardPages> guards, Handles handles,
            Map<Long, SharedMemory> shared, NamedFiles files, Inherited inherited) {
        this.inherited = inherited;
        this.files = files;
        this.tracee = tracee;
        this.process = process;
        this.regions = regions;
        this.guards = guards;
        this.kernel = new KernelPages(tracee, process, regions);
        this.handles = handles;
        this.shared = shared;
        this.segments = new AttachedSegments(tracee, regions);
    }

    /** Unmaps the stub's program and moves the kernel's own mappings to where the job's were, or out of their way. */
    void clear(MemorySource contents, List<ThreadState> threads) {
        List<Region> stub = StubLayout.of(tracee.hostPid()).regions();
        unmapOthers(tracee, stub, AddressRanges.of(inherited.regions(), Region::start, Region::end));
        kernel.place(stub.stream().filter(StubLayout::movable).toList());
        kernel.prepare(contents, threads);
    }

    /** @param kept {start, end} pairs of what the process needs of it */
    static void unmapOthers(Tracee tracee, List<Region> all, long[] kept) {
        Batch batch = new Batch(tracee);
        for (Region region : all) {
            if (!region.kernelOwned() && !tracee.ownMapping(region.start())) {
                long[] ranges = AddressRanges.without(new long[]{region.start(), region.end()}, kept);
                for (int i = 0; i < ranges.length; i += 2) {
                    if (batch.full(1, 0)) {
                        batch.run();
                    }
                    batch.add(() -> "unmap the stub", Syscall.MUNMAP, ranges[i], ranges[i + 1] - ranges[i]);
                }
            }
        }
        batch.run();
    }

    /** Maps every region, and reserves the library's own ranges until it maps them itself. */
    void map() {
        openFiles();
        dropInherited();
        Batch batch = new Batch(tracee);
        for (Region region : regions) {
            if (batch.full(1 + ADVICE.size() + 1, 0)) {
                batch.run();
            }
            if (!region.kernelOwned()) {
                if (inherited.has(region)) {
                    batch.add(named(region), Syscall.MPROTECT, region.start(), region.size(), region.protection());
                } else {
                    map(region, batch);
                }
                guard(region, batch);
                advise(region, batch); // memory that is locked takes no guards any more
            }
        }
        open.values().stream().filter(fd -> fd != program).forEach(fd -> {
            if (batch.full(1, 0)) {
                batch.run();
            }
            batch.close(fd);
        });
        long[] owned = process.ownedRanges();
        for (int i = 0; i < owned.length; i += 2) {
            if (batch.full(1, 0)) {
                batch.run();
            }
            int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
            long at = owned[i];
            batch.add(() -> "reserve the library's range 0x%x".formatted(at), Syscall.MMAP, at, owned[i + 1] - at, 0,
                    flags, -1, 0);
        }
        batch.run();
        kernel.map();
    }

    /** What came with the fork, and is another process's only. */
    private void dropInherited() {
        Batch batch = new Batch(tracee);
        long[] ranges = inherited.dropped();
        for (int i = 0; i < ranges.length; i += 2) {
            if (batch.full(1, 0)) {
                batch.run();
            }
            batch.add(() -> "give up inherited memory", Syscall.MADVISE, ranges[i], ranges[i + 1] - ranges[i],
                    MADV_DONTNEED);
        }
        batch.run();
    }

    /** What was verified is handed over, so that it is this and nothing else; the rest is found by its name. */
    private void openFiles() {
        takeVerified();
        Batch batch = new Batch(tracee);
        Map<String, Opening> places = new HashMap<>();
        for (Region region : regions) {
            if (region.kernelOwned() || !onFile(region) || shared.containsKey(region.backing())
                    || open.containsKey(key(region)) || places.containsKey(key(region))) {
                continue;
            }
            if (batch.full(1, 4 * region.path().length() + 1 + 16 + NamedFiles.OPEN_HOW_BYTES)) {
                open(batch, places);
            }
            int flags = (writes(region) ? Syscall.O_RDWR : Syscall.O_RDONLY) | Syscall.O_CLOEXEC;
            if (files.views().from(process.pid(), region.path())) {
                open(batch, places);
                open.put(key(region), LinuxError.check(files.tryOpenSeen(tracee, region.path(), flags),
                        tracee.name() + ": open " + region.path()));
                continue;
            }
            places.put(key(region), new Opening(region.path(), files.open(batch, region.path(), flags)));
        }
        open(batch, places);
    }

    private void takeVerified() {
        List<String> paths = Stream
                .concat(Stream.of(process.executable()),
                        regions.stream().filter(region -> !region.kernelOwned() && onFile(region) && !writes(region)
                                && !shared.containsKey(region.backing())).map(Region::path))
                .distinct().filter(path -> files.given(process.pid(), path) != null).toList();
        if (paths.isEmpty()) {
            return;
        }
        long[] numbers =
                Handover.give(tracee, paths.stream().map(path -> files.given(process.pid(), path)).toList());
        for (int i = 0; i < numbers.length; i++) {
            open.put("r" + paths.get(i), numbers[i]);
        }
        program = files.given(process.pid(), process.executable()) == null ? -1
                : open.get("r" + process.executable());
    }

    /** @param place in the batch */
    private record Opening(String path, int place) {}

    private void open(Batch batch, Map<String, Opening> places) {
        batch.run();
        places.forEach((key, opening) -> {
            long fd = batch.result(opening.place);
            files.verifyOpened(tracee, opening.path, fd);
            open.put(key, fd);
        });
        places.clear();
    }

    private void map(Region region, Batch batch) {
        Supplier<String> what = named(region);
        SharedMemory backing = shared.get(region.backing());
        if (backing != null && backing.kind() == MemoryKind.SYSV) {
            segments.map(region, backing, batch);
        } else {
            long fd = backing != null ? shared(region, backing) : onFile(region) ? open.get(key(region)) : -1;
            batch.add(what, Syscall.MMAP, region.start(), region.size(), region.protection(), flags(region, fd), fd,
                    fd < 0 ? 0 : region.fileOffset());
        }
    }

    private static Supplier<String> named(Region region) {
        return () -> "map 0x%x-0x%x %s %s".formatted(region.start(), region.end(), region.permissions(), region.path());
    }

    private void guard(Region region, Batch batch) {
        for (GuardPages guard : guards) {
            if (in(region, guard)) {
                if (batch.full(1 + ADVICE.size() + 1, 0)) {
                    batch.run();
                }
                batch.add(() -> "guard pages at 0x%x (EINVAL: they need Linux 6.13)".formatted(guard.start()),
                        Syscall.MADVISE, guard.start(), guard.end() - guard.start(),
                        MADV_GUARD_INSTALL);
            }
        }
    }

    private static boolean in(Region region, GuardPages guard) {
        return guard.start() >= region.start() && guard.end() <= region.end();
    }

    private void advise(Region region, Batch batch) {
        Supplier<String> what = named(region);
        for (String flag : region.vmFlags().split(" ")) {
            Integer advice = ADVICE.get(flag);
            if (advice != null) {
                batch.add(() -> "madvise " + flag + " for " + what.get(), Syscall.MADVISE, region.start(),
                        region.size(), advice);
            } else if (flag.equals(MappingFlags.LOCKED)) {
                lock(region, what, batch);
            }
        }
    }

    /** Where not all can be read the lock is made, and ENOMEM only says that not all pages came in (mlock(2)). */
    private void lock(Region region, Supplier<String> what, Batch batch) {
        boolean unreadable =
                region.permissions().startsWith("---") || guards.stream().anyMatch(guard -> in(region, guard));
        boolean later = !unreadable && Arrays.asList(region.vmFlags().split(" ")).contains(MappingFlags.LOCKED_LATER);
        batch.add(() -> "mlock (if not permitted: raise the limit of locked memory, ulimit -l) for " + what.get(),
                result -> unreadable && result == -LinuxError.ENOMEM,
                325 /* mlock2 */, region.start(), region.size(), later ? 1 /* MLOCK_ONFAULT */ : 0);
    }

    /** Makes sealed memory unchangeable (mseal(2), Linux 6.10), when nothing of it is to be changed any more. */
    void seal() {
        Batch batch = new Batch(tracee);
        for (Region region : regions) {
            if ((" " + region.vmFlags() + " ").contains(" " + VmFlags.SEALED + " ")) {
                if (batch.full(1, 0)) {
                    batch.run();
                }
                batch.add(() -> "mseal (ENOSYS: it needs Linux 6.10) of 0x%x-0x%x".formatted(region.start(),
                        region.end()), MSEAL, region.start(), region.size(), 0);
            }
        }
        batch.run();
    }

    /** Not what a kind maps there later. */
    private boolean onFile(Region region) {
        return region.path().startsWith("/") && !region.path().equals(SharedMemoryKind.HUGE_PAGES)
                && (region.backing() == 0 || shared.containsKey(region.backing()));
    }

    /**
     * Shared memory that was mapped through a read-only descriptor is mapped so again: a sealed memfd may have no other
     * mapping (fcntl(2)), and a mapping through one for writing keeps a file from being a program (execve(2), ETXTBSY).
     */
    private long shared(Region region, SharedMemory backing) {
        boolean forbidden = region.shared() && !region.writable() && region.vmFlags().contains("rd")
                && !region.mayBeWritable() || !region.shared() && backing.isNameless();
        long whole = handles.in(tracee, backing.id());
        return forbidden
                ? open.computeIfAbsent("r" + backing.id(),
                        k -> LinuxError.check(tracee.reopen(whole, Syscall.O_RDONLY | Syscall.O_CLOEXEC),
                                tracee.name() + ": open " + backing.path() + " for reading"))
                : whole;
    }

    /** A shared mapping that may become writable needs a descriptor open for writing (mmap(2), EACCES). */
    private static boolean writes(Region region) {
        return region.shared() && region.mayBeWritable();
    }

    private static String key(Region region) {
        return (writes(region) ? "w" : "r") + region.path();
    }

    /** The last of all calls in the process. */
    void leaveKernelPages() {
        kernel.leave();
    }

    private static int flags(Region region, long fd) {
        String vm = " " + region.vmFlags() + " ";
        int type = region.shared() ? MAP_SHARED
                : vm.contains(" " + VmFlags.DROPPABLE + " ") && Droppable.KNOWN ? MAP_DROPPABLE : MAP_PRIVATE;
        return MAP_FIXED_NOREPLACE | type | (fd < 0 ? MAP_ANONYMOUS : 0)
                | (region.path().equals(SharedMemoryKind.HUGE_PAGES) ? MAP_HUGETLB : 0)
                | (vm.contains(" gd ") ? MAP_GROWSDOWN : 0) | (vm.contains(" nr ") ? MAP_NORESERVE : 0);
    }

    /** When memory is in place. */
    void convertSignalFrames(VectorConversion vectors, List<ThreadState> threads, LazyProcesses lazy) {
        new SignalFrames(tracee, regions, vectors, kernel, lazy).convert(threads);
    }

    /**
     * prctl_set_mm_map (prctl(2), PR_SET_MM): what /proc shows, where brk(2) goes on. The stub's program must be
     * unmapped.
     */
    void describe() {
        long exe = program >= 0 ? program : hasNamelessProgram() ? openNameless()
                : LinuxError.check(files.tryOpenSeen(tracee, process.executable(), Syscall.O_CLOEXEC),
                        tracee.name() + ": open " + process.executable());
        long auxv = tracee.bytes(process.auxv());
        Struct map = tracee.structure();
        for (long word : process.memoryMap()) {
            map.i64(word);
        }
        map.i64(auxv).i32(process.auxv().length).i32((int) exe);
        long put = map.put();
        long result = tracee.tryCall(Syscall.PRCTL, PR_SET_MM, PR_SET_MM_MAP, put, map.size(), 0);
        // a process that was forked here meanwhile has the file open for writing, until it executes a program
        for (int tries = 0; result == -LinuxError.EACCES && tries < PROGRAM_TRIES; tries++) {
            LockSupport.parkNanos(PROGRAM_WAIT_NS);
            result = tracee.tryCall(Syscall.PRCTL, PR_SET_MM, PR_SET_MM_MAP, put, map.size(), 0);
        }
        LinuxError.check(result, tracee.name() + ": PR_SET_MM_MAP");
        tracee.call("close", Syscall.CLOSE, exe);
    }

    /** Whether its program has no name: it is to be {@link #describe described} when its file is complete. */
    boolean hasNamelessProgram() {
        return nameless() != 0;
    }

    private long nameless() {
        return regions.stream().filter(region -> region.path().equals(process.executable())).map(Region::backing)
                .filter(id -> shared.containsKey(id) && shared.get(id).isNameless()).findFirst().orElse(0L);
    }

    /** For reading: a file that is open for writing is no program (execve(2), ETXTBSY). */
    private long openNameless() {
        handles.reopenForReading(nameless());
        return LinuxError.check(
                tracee.reopen(handles.in(tracee, nameless()), Syscall.O_RDONLY | Syscall.O_CLOEXEC),
                tracee.name() + ": open " + process.executable());
    }

    /**
     * Whether this kernel has memory that it may drop (mmap(2), MAP_DROPPABLE; Linux 6.11). Where it has not, such
     * memory is only wiped in children, and as empty.
     */
    private static final class Droppable {
        static final boolean KNOWN = known();

        private static boolean known() {
            long at = Syscall.call(Syscall.MMAP, 0, 4096, 3, MAP_DROPPABLE | MAP_ANONYMOUS, -1, 0);
            return at > 0 && LinuxError.check(Syscall.call(Syscall.MUNMAP, at, 4096), "munmap") == 0;
        }
    }
}
