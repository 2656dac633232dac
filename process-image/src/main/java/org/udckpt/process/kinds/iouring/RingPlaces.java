package org.udckpt.process.kinds.iouring;

import static org.udckpt.linux.LinuxConstants.MAP_ANONYMOUS;
import static org.udckpt.linux.LinuxConstants.MAP_FIXED_NOREPLACE;
import static org.udckpt.linux.LinuxConstants.MAP_NORESERVE;
import static org.udckpt.linux.LinuxConstants.MAP_PRIVATE;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.model.Region;

/**
 * Maps rings where they were. The kernel takes no address for one since Linux 6.5, from nobody (EINVAL, also of
 * mremap(2)): it chooses a free place itself. So all other places are taken for a moment, by memory that nobody can
 * touch.
 */
final class RingPlaces implements AutoCloseable {
    private static final int MAP_SHARED = 1, MAP_POPULATE = 0x8000, MADV_DONTFORK = 10;
    /** Where programs' addresses begin (vm.mmap_min_addr may be less), and end with four levels of page tables. */
    private static final long FIRST = 0x10000, END = 0x7fff_ffff_f000L;

    private record Range(long start, long end) {}

    private final Maker process;
    private final List<Range> taken = new ArrayList<>();

    /** @param process whose mappings are all in place; {@link #map} is for those that a ring comes into the place of */
    RingPlaces(Maker process) {
        this.process = process;
        try {
            long free = FIRST;
            for (String line : Proc.text("/proc/" + process.hostPid() + "/maps").split("\n")) {
                String[] range = line.substring(0, line.indexOf(' ')).split("-");
                take(free, Math.min(END, Long.parseUnsignedLong(range[0], 16)));
                free = Math.max(free, Long.parseUnsignedLong(range[1], 16)); // [vsyscall] is negative
            }
            take(free, END);
        } catch (RuntimeException failure) {
            close();
            throw failure;
        }
    }

    private void take(long start, long end) {
        if (start < end) {
            process.call("take what is free at 0x%x, for an io_uring".formatted(start), Syscall.MMAP, start,
                    end - start, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
            taken.add(new Range(start, end));
        }
    }

    /** In the place of what is mapped there. */
    void map(Region region, long fd) {
        process.call("make room for an io_uring", Syscall.MUNMAP, region.start(), region.size());
        long at = process.call("map an io_uring", Syscall.MMAP, 0, region.size(), region.protection(),
                MAP_SHARED | MAP_POPULATE, fd, region.fileOffset());
        if (at != region.start()) {
            throw process.failed("the kernel maps an io_uring at 0x%x, where only 0x%x is free".formatted(at,
                    region.start()));
        }
        if ((" " + region.vmFlags() + " ").contains(" dc ")) {
            process.call("madvise an io_uring", Syscall.MADVISE, at, region.size(), MADV_DONTFORK);
        }
    }

    @Override
    public void close() {
        for (Range range : taken) {
            process.call("give back a place", Syscall.MUNMAP, range.start, range.end - range.start);
        }
        taken.clear();
    }
}
