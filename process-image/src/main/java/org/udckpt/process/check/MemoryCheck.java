package org.udckpt.process.check;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.SharedMemory;

/** Contents: of whom they are, and that they lie in what he has. The image's other tables have been checked. */
final class MemoryCheck {
    /** By process: mappings that follow each other are one. */
    private final Map<Long, TreeMap<Long, Long>> mapped = new HashMap<>();
    private final Map<Long, Long> sizes = new HashMap<>();

    MemoryCheck(JobImage image) {
        image.processes().forEach(process -> mapped.put((long) process.pid(), new TreeMap<>()));
        image.regions().stream().sorted((a, b) -> Long.compare(a.start(), b.start())).forEach(this::add);
        for (KernelObject object : image.objects()) {
            if (object instanceof SharedMemory memory) {
                sizes.put(memory.id(), memory.size());
            } else if (object instanceof MappedFile file) {
                sizes.put(file.id(), file.size());
            }
        }
        for (JobFile file : image.files()) {
            if (file instanceof JobFile.RegularFile regular) {
                sizes.merge(regular.id(), regular.size(), Math::min);
            }
        }
    }

    private void add(Region region) {
        TreeMap<Long, Long> ranges = mapped.get((long) region.pid());
        Map.Entry<Long, Long> last = ranges.lastEntry();
        boolean joins = last != null && last.getValue() == region.start();
        ranges.put(joins ? last.getKey() : region.start(), region.end());
    }

    void check(RowCheck row, MemorySource source) throws BrokenTable {
        row.require(source.process() ? mapped.containsKey(source.id()) : sizes.containsKey(source.id()),
                source.process() ? "id %d is not a process of the image"
                        : "id %d is neither shared memory nor a regular file of the image",
                source.id());
        long[] extents = source.extents();
        for (int i = 0; i < extents.length; i += 2) {
            if (!(source.process() ? isMapped(source.id(), extents[i], extents[i + 1])
                    : extents[i] >= 0 && extents[i + 1] - RowCheck.PAGE < sizes.get(source.id()))) {
                throw row.broken("extent 0x" + Long.toHexString(extents[i]) + " to 0x"
                        + Long.toHexString(extents[i + 1]) + " is outside the memory of "
                        + (source.process() ? "process " : "object ") + source.id());
            }
        }
    }

    private boolean isMapped(long pid, long start, long end) {
        Map.Entry<Long, Long> range = mapped.get(pid).floorEntry(start);
        return range != null && range.getValue() >= end;
    }
}
