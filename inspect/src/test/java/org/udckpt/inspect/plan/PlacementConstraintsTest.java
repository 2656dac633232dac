package org.udckpt.inspect.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.udckpt.process.model.Clocks;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.store.ImageProcesses;

/** What ranks of one host share is named, and what only one of them has is not. */
class PlacementConstraintsTest {
    private static final int OFTEN = 4;

    /** Ranks 0 to 3, of which rank 3 has started a child. */
    private static final List<ProcessState> PROCESSES =
            List.of(process(10, 0, 0), process(11, 0, 1), process(12, 0, 2), process(13, 0, 3), process(14, 13, 3));

    private static ProcessState process(int pid, int parent, int rank) {
        return new ProcessState(pid, parent, pid, pid, rank, "/bin/app", "/", 0, "app", new byte[0], new long[11],
                new byte[0], new byte[0], new long[0], new long[0],
                0, 0, true, false, false, new int[0], new long[0], false, 0, false, "", -1, 0, 0);
    }

    private static SharedMemory memory(long id, MemoryKind kind, String path, long size) {
        return new SharedMemory(id, kind, path, size, 0600, 0, 0, 0, 0, 0);
    }

    private static Region mapped(int pid, long memory) {
        return new Region(pid, 0x1000, 0x2000, "rw-s", 0, "", "", memory);
    }

    private static List<PlacementConstraints.Memory> memories(List<Region> regions, List<Descriptor> descriptors,
            KernelObject... objects) {
        JobImage image = new JobImage(PROCESSES, List.of(), regions, descriptors, List.of(objects), List.of(),
                List.of(), new Clocks(0, 0, 0), null);
        return PlacementConstraints.memories(image, new ImageProcesses("ckpt-0001", PROCESSES, List.of()));
    }

    @Test
    void memoryThatSeveralRanksHave() {
        List<PlacementConstraints.Memory> found = memories(
                List.of(mapped(10, 1), mapped(11, 1), mapped(12, 2), mapped(12, 2), mapped(13, 3), mapped(14, 3),
                        mapped(10, 0), mapped(11, 0), mapped(10, 4), mapped(14, 4)),
                List.of(new Descriptor(13, 5, false, 20), new Descriptor(11, 5, false, 21)),
                memory(1, MemoryKind.NAMED_FILE, "/dev/shm/ucx", 4 << 20),
                memory(2, MemoryKind.ANONYMOUS, "", 4096), memory(3, MemoryKind.SYSV, "", 4096),
                memory(4, MemoryKind.MEMFD, "pool", 8 << 20),
                new OpenFile(20, "/dev/shm/ucx", 2, 0, 4 << 20, 0600, 0, 0, 0, 1),
                new OpenFile(21, "/etc/hosts", 0, 0, 100, 0644, 0, 0, 0, 0));
        assertEquals(
                List.of("ranks 0 and 3 share memfd memory pool (8.0 MiB)",
                        "ranks 0, 1 and 3 share /dev/shm/ucx (4.0 MiB)"),
                found.stream().map(PlacementConstraints.Memory::toString).toList(),
                "mapped or open, by a rank or what it has started; not what one rank has twice");
    }

    @Test
    void theRestIsCounted() {
        List<PlacementConstraints.Memory> many = IntStream.rangeClosed(1, OFTEN)
                .mapToObj(number -> new PlacementConstraints.Memory("m" + number, 4096, new TreeSet<>(List.of(0, 1))))
                .toList();
        String text = new PlacementConstraints(2, many, Map.of(1, new TreeSet<>(List.of(0, 1, 2, 3)))).toString();
        assertEquals(
                "ranks 0 and 1 share m1 (4.0 KiB); ranks 0 and 1 share m2 (4.0 KiB); ranks 0 and 1 share m3 (4.0 KiB); "
                        + "and 1 more of this kind; ranks 0 to 3 share LID 0x0001; all of them share process ids, by "
                        + "which "
                        + "one may read another's memory (CMA)",
                text);
    }

    @Test
    void aRankThatIsAloneWithItsAddressSharesNone() {
        assertEquals("all of them share process ids, by which one may read another's memory (CMA)",
                new PlacementConstraints(2, List.of(), Map.of(7, new TreeSet<>(List.of(1)))).toString());
    }
}
