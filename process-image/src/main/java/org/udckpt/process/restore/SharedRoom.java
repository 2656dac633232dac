package org.udckpt.process.restore;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.SharedMemory;

/**
 * Whether there is room for the job's shared memory where it had it (/dev/shm): asked before anything is made, since
 * one that is full in the middle tells only of the page that did not fit.
 */
final class SharedRoom {
    private record FileSystem(String directory, long free) {}

    private SharedRoom() {}

    /** @throws RestoreException with how much is needed, how much there is, and the way out */
    static void check(JobImage image, Collection<MemorySource> memory) {
        Map<Long, Long> bytes = memory.stream().filter(source -> !source.process())
                .collect(Collectors.toMap(MemorySource::id, SharedRoom::bytes));
        Map<Long, FileSystem> systems = new HashMap<>();
        Map<Long, Long> needed = new TreeMap<>();
        for (var object : image.objects()) {
            if (object instanceof SharedMemory shared
                    && (shared.kind() == MemoryKind.NAMED_FILE || shared.kind() == MemoryKind.DELETED_FILE)
                    && shared.path().startsWith("/")) {
                String directory = shared.path().substring(0, Math.max(1, shared.path().lastIndexOf('/')));
                Files.Stat there = Files.tryStat(directory);
                if (there != null) { // else its directory is made again
                    systems.computeIfAbsent(there.device(), device -> new FileSystem(directory, free(directory)));
                    needed.merge(there.device(), bytes.getOrDefault(shared.id(), 0L) - given(shared), Long::sum);
                }
            }
        }
        needed.forEach((device, sum) -> {
            FileSystem system = systems.get(device);
            if (sum > system.free) {
                throw new RestoreException(RestoreException.Reason.NO_SPACE,
                        ("its shared memory takes %d KiB more in %s, where %d KiB are free: remove what is not needed "
                                + "there, or enlarge it (mount -o remount,size=...)")
                                .formatted((sum + 1023) / 1024, system.directory, system.free / 1024));
            }
        });
    }

    private static long bytes(MemorySource source) {
        long[] extents = source.extents();
        long sum = 0;
        for (int i = 0; i < extents.length; i += 2) {
            sum += extents[i + 1] - extents[i];
        }
        return sum;
    }

    /** What a file that is there already gives back when it is emptied: at most what its size says. */
    private static long given(SharedMemory shared) {
        Files.Stat now = shared.kind() == MemoryKind.NAMED_FILE ? Files.tryStat(shared.path()) : null;
        return now == null ? 0 : now.size();
    }

    private static long free(String directory) {
        LinuxError.check(Syscall.call(Syscall.STATFS, Scratch.string(directory), Scratch.data().address()),
                "statfs " + directory);
        return Scratch.data().get(JAVA_LONG, 8) * Scratch.data().get(JAVA_LONG, 32); // f_bsize, f_bavail
    }
}
