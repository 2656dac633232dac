package org.udckpt.process.check;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.RowCheck;

/** Holds the tables of a job's image against each other. */
public final class ImageCheck {
    private ImageCheck() {}

    /**
     * Whatever is counted on by who takes the image apart: lengths, references, order, numbers that the kernel would be
     * asked for. Not whether the kernel here can make it again.
     *
     * @throws BrokenTable the first row that cannot be
     */
    public static void check(JobImage image) throws BrokenTable {
        ProcessCheck processes = new ProcessCheck(image);
        processes.check();
        Set<Long> shared = new ObjectCheck(image, processes.pids()).check();
        new RegionCheck(image, processes.pids(), shared).check();
        new FileCheck(image).check();
        IdentityCheck.check(image);
        new NameCheck(image).check();
    }

    /**
     * Whether each memory is one of the image's processes or shared objects, and lies in it.
     *
     * @param memory in the order of its table
     */
    public static void check(JobImage image, List<MemorySource> memory) throws BrokenTable {
        MemoryCheck check = new MemoryCheck(image);
        RowCheck row = new RowCheck("memory");
        Set<Long> seen = new HashSet<>();
        for (MemorySource source : memory) {
            row.next();
            // Ids of objects are positive, and so are pids: one set is enough for both.
            row.require(seen.add(source.process() ? -source.id() : source.id()),
                    source.process() ? "duplicate memory of process %d" : "duplicate memory of object %d", source.id());
            check.check(row, source);
        }
    }
}
